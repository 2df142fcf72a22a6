package capture

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gopacket/gopacket"
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
	file *os.File
	name string // "" if file has its name already (a device, a pipe)
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
	w := new(Writer)
	if err := w.open(name); err != nil {
		return nil, err
	}
	w.buf = bufio.NewWriterSize(w.file, readBytes)
	if format == Pcap {
		o := newPcapOut(w.buf)
		w.begin, w.add = o.begin, o.add
	} else {
		o := newNgOut(w.buf)
		w.begin, w.add = o.begin, o.add
	}
	return w, nil
}

func (w *Writer) open(name string) (err error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return fmt.Errorf("write %s: it is a directory", name)
	}
	if err == nil && !info.Mode().IsRegular() {
		w.file, err = os.OpenFile(name, os.O_WRONLY, 0)
		return err
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // so that the rename replaces the file, not the link
	}
	w.name = name
	hidden := fmt.Sprintf(".%s.%d.part", filepath.Base(name), os.Getpid())
	w.file, err = os.OpenFile(filepath.Join(filepath.Dir(name), hidden),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
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
func (w *Writer) Commit() error {
	err := w.finish()
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	if w.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		os.Remove(w.file.Name()) // err already says what went wrong
	}
	return err
}

func (w *Writer) finish() error {
	if !w.any {
		if err := w.begin(1); err != nil {
			return err
		}
	}
	return w.buf.Flush()
}

// Abort gives the file up: nothing is left of it.
func (w *Writer) Abort() error {
	err := w.file.Close()
	if w.name == "" {
		return err
	}
	return os.Remove(w.file.Name())
}
