package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"
)

// The head of a pcap file is 24 bytes: magic, version, and at the end a word
// that holds the link type in its lower 16 bits, then 10 that must be zero,
// then the FCS length, which we leave to the frame (pcap-savefile(5)).
const (
	pcapHeadBytes    = 24
	pcapReservedBits = 0x03FF0000
)

// openPcap reads the head of a pcap file.
func (r *Reader) openPcap(magic []byte, buf *bufio.Reader) error {
	order, err := pcapOrder(magic)
	if err != nil {
		return err
	}
	head := make([]byte, pcapHeadBytes)
	if n, err := io.ReadFull(buf, head); err != nil {
		return fmt.Errorf("%d bytes are too few for a pcap head", n)
	}
	field := order.Uint32(head[20:])
	if field&pcapReservedBits != 0 {
		return fmt.Errorf("reserved bits of the link type are set: %#08x", field)
	}
	p := &pcapFile{link: uint16(field)}
	if _, known := LinkOf(p.link); !known {
		return unassigned(p.link)
	}
	if major, minor := order.Uint16(head[4:]), order.Uint16(head[6:]); major != 2 || minor != 4 {
		r.odd = fmt.Errorf("unknown version %d.%d, read as 2.4", major, minor)
		order.PutUint16(head[4:], 2)
		order.PutUint16(head[6:], 4)
	}
	// pcapgo reads from p.buf itself, since it is a bufio.Reader already.
	p.buf = bufio.NewReader(io.MultiReader(bytes.NewReader(head), buf))
	if p.r, err = pcapgo.NewReader(p.buf); err != nil {
		return err
	}
	p.r.SetSnaplen(min(p.r.Snaplen(), MaxFrameBytes))
	r.next = p.next
	return nil
}

// pcapOrder tells the byte order from the magic number.
func pcapOrder(magic []byte) (binary.ByteOrder, error) {
	switch binary.BigEndian.Uint32(magic) {
	case 0xA1B2C3D4, 0xA1B23C4D:
		return binary.BigEndian, nil
	case 0xD4C3B2A1, 0x4D3CB2A1:
		return binary.LittleEndian, nil
	}
	return nil, fmt.Errorf("neither pcap nor pcapng: it begins with % x", magic)
}

type pcapFile struct {
	r    *pcapgo.Reader
	buf  *bufio.Reader // what r reads from
	long []byte        // for frames that r does not like
	link uint16
}

func (p *pcapFile) next(f *Frame) error {
	data, ci, err := p.r.ZeroCopyReadPacketData()
	if err != nil && !ci.Timestamp.IsZero() {
		data, err = p.rest(ci, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends within it")
	}
	if err != nil {
		return err
	}
	f.Data, f.Time = data, ci.Timestamp.UnixNano()
	f.Length = max(ci.Length, len(data))
	return f.setLink(p.link)
}

// rest judges an error that came behind the head of a record. pcapgo refuses
// a frame longer than its length on the wire; such files exist, libpcap reads
// them, and their bytes are still to be read.
func (p *pcapFile) rest(ci gopacket.CaptureInfo, err error) ([]byte, error) {
	if ci.CaptureLength > MaxFrameBytes || ci.CaptureLength < 0 {
		return nil, fmt.Errorf("%d bytes captured, more than any frame has (%d)",
			uint32(ci.CaptureLength), MaxFrameBytes)
	}
	if ci.CaptureLength <= ci.Length {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if len(p.long) < ci.CaptureLength {
		p.long = make([]byte, ci.CaptureLength)
	}
	n, err := io.ReadFull(p.buf, p.long[:ci.CaptureLength])
	if err != nil {
		err = io.ErrUnexpectedEOF
	}
	return p.long[:n], err
}
