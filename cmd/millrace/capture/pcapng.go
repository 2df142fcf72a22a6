package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// A pcapng file begins with a section header block: type, length, byte order,
// major and minor version, section length, options, length again
// (draft-ietf-opsawg-pcapng, section 4.1).
const (
	ngMagic     = 0x0A0D0D0A
	ngOrder     = 0x1A2B3C4D
	ngHeadBytes = 28 // without options
)

// openNg reads the first section header.
func (r *Reader) openNg(buf *bufio.Reader) error {
	head := make([]byte, ngHeadBytes)
	if n, err := io.ReadFull(buf, head[:ngHeadBytes-4]); err != nil {
		return fmt.Errorf("%d bytes are too few for a pcapng head", n)
	}
	if err := r.normalise(head, buf); err != nil {
		return err
	}
	src := io.MultiReader(bytes.NewReader(head), buf)
	ng, err := pcapgo.NewNgReader(src, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return ngError(err)
	}
	r.next = func(f *Frame) error { return readNg(ng, f) }
	return nil
}

// normalise takes the rest of the first section header from buf and leaves in
// head one that pcapgo likes: without options, which say nothing of frames,
// and of version 1.0. Version 1.2 is the same format, which readers are asked
// to take; any other is odd.
func (r *Reader) normalise(head []byte, buf *bufio.Reader) error {
	var order binary.ByteOrder = binary.LittleEndian
	if binary.BigEndian.Uint32(head[8:]) == ngOrder {
		order = binary.BigEndian
	} else if order.Uint32(head[8:]) != ngOrder {
		return fmt.Errorf("no byte order in the section header: % x", head[8:12])
	}
	length := order.Uint32(head[4:])
	if length < ngHeadBytes || length > math.MaxInt32 || length%4 != 0 {
		return fmt.Errorf("a section header of %d bytes", length)
	}
	trailer := head[ngHeadBytes-4:]
	_, err := buf.Discard(int(length) - ngHeadBytes)
	if err == nil {
		_, err = io.ReadFull(buf, trailer)
	}
	if err != nil {
		return errors.New("the file ends within the section header")
	}
	if again := order.Uint32(trailer); again != length {
		r.odd = fmt.Errorf("section header of %d bytes says %d at its end", length, again)
	}
	if major, minor := order.Uint16(head[12:]), order.Uint16(head[14:]); major != 1 ||
		minor != 0 && minor != 2 {
		r.odd = fmt.Errorf("unknown version %d.%d, read as 1.0", major, minor)
	}
	order.PutUint32(head[4:], ngHeadBytes)
	order.PutUint16(head[12:], 1)
	order.PutUint16(head[14:], 0)
	order.PutUint32(trailer, ngHeadBytes)
	return nil
}

func readNg(r *pcapgo.NgReader, f *Frame) error {
	data, ci, err := r.ZeroCopyReadPacketData()
	if err != nil {
		return ngError(err)
	}
	if len(data) > MaxFrameBytes {
		return fmt.Errorf("%d bytes captured, more than any frame has (%d)",
			len(data), MaxFrameBytes)
	}
	f.Data, f.Length, f.Time = data, max(ci.Length, len(data)), 0
	if !ci.Timestamp.IsZero() { // a simple packet block has no time
		f.Time = ci.Timestamp.UnixNano()
	}
	number, _ := ci.AncillaryData[0].(layers.LinkType)
	return f.setLink(uint16(number))
}

// ngError says in our words what pcapgo met.
func ngError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends within a block")
	case errors.Is(err, pcapgo.ErrNgVersionMismatch):
		return errors.New("a section of an unknown version, not 1.0")
	}
	return err
}
