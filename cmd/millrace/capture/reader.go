package capture

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/millrace-net/millrace/header"
)

// MaxFrameBytes is the longest frame that is read: libpcap's own limit. A
// longer record means a damaged file.
const MaxFrameBytes = 262144

// A Frame is one record of a capture file.
type Frame struct {
	Data       []byte          // the bytes that were captured
	Link       header.LinkType // how to read them
	LinkNumber uint16          // the file's LINKTYPE
	Number     int             // place in the file, from 1
	Length     int             // bytes on the wire, at least len(Data)
	Time       int64           // ns since 1970; 0: the file has none
}

// An Error says where a capture file stops making sense. Frame is the number
// of the first frame that cannot be read; 0 means the head of the file.
type Error struct {
	File  string
	Frame int
	Err   error
}

func (e *Error) Error() string {
	if e.Frame == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: frame %d: %v", e.File, e.Frame, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// A Reader reads the frames of one file in order. It belongs to one goroutine.
type Reader struct {
	name   string
	file   io.Closer
	next   func(*Frame) error
	frames int
	odd    error // what is wrong with the head, although frames can be read
	err    error // what ended the file
}

// Open opens a capture file of either format and reads its head. The caller
// closes the Reader.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := newReader(f)
	if err != nil {
		f.Close() // only read from: nothing can be lost
		return nil, &Error{File: name, Err: err}
	}
	r.name, r.file = name, f
	return r, nil
}

// newReader finds out the format of src.
func newReader(src io.Reader) (*Reader, error) {
	buf, err := unzip(bufio.NewReaderSize(src, readBytes))
	if err != nil {
		return nil, err
	}
	magic, err := buf.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("%d bytes are too few for a capture file", len(magic))
	}
	r := new(Reader)
	if binary.BigEndian.Uint32(magic) == ngMagic {
		err = r.openNg(buf)
	} else {
		err = r.openPcap(magic, buf)
	}
	return r, err
}

const readBytes = 64 << 10

// unzip looks through gzip, so that x.pcap.gz is as good as x.pcap.
func unzip(buf *bufio.Reader) (*bufio.Reader, error) {
	magic, err := buf.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return buf, nil // too short a file is reported with its length
	}
	z, err := gzip.NewReader(buf)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, readBytes), nil
}

// Next reads the next frame into f. Its Data is lent until the next call, to
// be changed if need be. It returns io.EOF behind the last frame, and an
// *Error where the file is damaged; either is final. A file with nothing but
// an odd head, such as an unknown version, is read to its end; the Error comes
// there.
func (r *Reader) Next(f *Frame) error {
	if r.err != nil {
		return r.err
	}
	if err := r.next(f); err != nil {
		r.err = r.ending(err)
		return r.err
	}
	r.frames++
	f.Number = r.frames
	return nil
}

// ending is what Next says of the error that ended the file.
func (r *Reader) ending(err error) error {
	switch {
	case err != io.EOF:
		return &Error{File: r.name, Frame: r.frames + 1, Err: err}
	case r.odd != nil:
		return &Error{File: r.name, Err: r.odd}
	}
	return err
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// setLink fills the link type of f.
func (f *Frame) setLink(number uint16) error {
	link, known := LinkOf(number)
	if !known {
		return unassigned(number)
	}
	f.Link, f.LinkNumber = link, number
	return nil
}

func unassigned(number uint16) error {
	return fmt.Errorf("link type %d is assigned to nothing (known: 0 to 303, see "+
		"www.tcpdump.org/linktypes.html); correct it with editcap -T", number)
}
