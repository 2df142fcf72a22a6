package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Frame is one packet record of a capture file.
type Frame struct {
	Data    []byte
	Link    uint32 // LINKTYPE number of its interface
	OrigLen int    // bytes it had on the wire
}

// ErrDamaged: the capture breaks off or contradicts itself.
var ErrDamaged = errors.New("damaged capture")

const (
	maxFrameBytes = 256 << 10
	pcapHeader    = 24
	blockSection  = 0x0a0d0d0a
)

// ReadCapture reads a pcap or pcapng file of either byte order. From a damaged
// file it returns the frames before the damage, and the error.
func ReadCapture(path string) ([]Frame, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := capture{rest: b}
	if len(b) >= 4 && binary.BigEndian.Uint32(b) == blockSection {
		err = r.blocks()
	} else {
		err = r.records()
	}
	if err != nil {
		err = fmt.Errorf("%s: after frame %d: %w", path, len(r.frames), err)
	}
	return r.frames, err
}

// Captures returns the paths of all shared captures, and skips the test where
// they are missing.
func Captures(t testing.TB) (paths []string) {
	t.Helper()
	add := func(path string, _ fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); ext == ".cap" || strings.HasPrefix(ext, ".pcap") {
			paths = append(paths, path)
		}
		return err
	}
	if err := filepath.WalkDir(Shared(t, "captures"), add); err != nil {
		t.Fatal(err)
	}
	return paths
}

type capture struct {
	order  binary.ByteOrder
	rest   []byte
	ifaces []iface // of the section, pcapng
	frames []Frame
}

type iface struct{ link, snap uint32 }

// take cuts n bytes off the rest of the file.
func (c *capture) take(n uint32) ([]byte, error) {
	if uint64(n) > uint64(len(c.rest)) {
		return nil, fmt.Errorf("%w: %d bytes wanted, %d left", ErrDamaged, n, len(c.rest))
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b, nil
}

// add keeps a frame whose captured bytes begin b.
func (c *capture) add(b []byte, caplen, orig, link uint32) error {
	if caplen > maxFrameBytes || uint64(caplen) > uint64(len(b)) {
		return fmt.Errorf("%w: frame of %d bytes", ErrDamaged, caplen)
	}
	c.frames = append(c.frames, Frame{Data: b[:caplen:caplen], Link: link, OrigLen: int(orig)})
	return nil
}

// records reads a pcap file: micro- or nanoseconds, and the variant of
// Kuznetzov whose record headers are 8 bytes longer.
func (c *capture) records() error {
	h, err := c.take(pcapHeader)
	if err != nil {
		return err
	}
	record := uint32(16)
	switch c.order = binary.LittleEndian; binary.BigEndian.Uint32(h) {
	case 0xd4c3b2a1, 0x4d3cb2a1:
	case 0x34cdb2a1:
		record = 24
	case 0xa1b2c3d4, 0xa1b23c4d:
		c.order = binary.BigEndian
	case 0xa1b2cd34:
		c.order, record = binary.BigEndian, 24
	default:
		return fmt.Errorf("%w: magic %x", ErrDamaged, h[:4])
	}
	link := c.order.Uint32(h[20:]) & 0xffff // above: FCS length
	for len(c.rest) > 0 {
		if h, err = c.take(record); err != nil {
			return err
		}
		n, orig := c.order.Uint32(h[8:]), c.order.Uint32(h[12:])
		b, err := c.take(n)
		if err != nil {
			return err
		}
		if err = c.add(b, n, orig, link); err != nil {
			return err
		}
	}
	return nil
}
