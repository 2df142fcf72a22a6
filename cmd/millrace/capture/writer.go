package capture

import (
	"bufio"
	"time"

	"github.com/gopacket/gopacket"

	"github.com/millrace-net/millrace/cmd/millrace/outfile"
)

// A Format is a file format to write.
type Format uint8

const (
	PcapNg Format = iota // an interface for each link type
	Pcap                 // one link type, nanoseconds
)

// A Writer writes one file. The file gets its name when Commit ends it: until
// then, and for ever after Abort, nothing is to be seen of it. It belongs to
// one goroutine.
type Writer struct {
	file *outfile.File
	buf  *bufio.Writer
	// begin makes sure that the file can hold frames of a LINKTYPE, add writes
	// a frame of it.
	begin func(number uint16) error
	add   func(number uint16, ci gopacket.CaptureInfo, data []byte) error
	any   bool // begin was called
}

// Create begins the file name. What is no regular file, such as /dev/null or
// a pipe, is written to directly.
func Create(name string, format Format) (*Writer, error) {
	file, err := outfile.Create(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, buf: bufio.NewWriterSize(file, readBytes)}
	if format == Pcap {
		o := newPcapOut(w.buf)
		w.begin, w.add = o.begin, o.add
	} else {
		o := newNgOut(w.buf)
		w.begin, w.add = o.begin, o.add
	}
	return w, nil
}

// Write copies one frame to the file. Data, LinkNumber, Time and Length of it
// count.
func (w *Writer) Write(f *Frame) error {
	w.any = true
	if err := w.begin(f.LinkNumber); err != nil {
		return err
	}
	return w.add(f.LinkNumber, gopacket.CaptureInfo{
		Timestamp:     time.Unix(0, f.Time),
		CaptureLength: len(f.Data),
		Length:        max(f.Length, len(f.Data)),
	}, f.Data)
}

// Commit ends the file and gives it its name. A file without frames is one of
// Ethernet.
func (w *Writer) Commit() error { return w.file.Commit(w.finish()) }

func (w *Writer) finish() error {
	if !w.any {
		if err := w.begin(1); err != nil {
			return err
		}
	}
	return w.buf.Flush()
}

// Abort gives the file up: nothing is left of it.
func (w *Writer) Abort() error { return w.file.Abort() }
