package testenv

import (
	"encoding/binary"
	"fmt"
)

// Block types of a pcapng file, section header apart.
const (
	blockInterface = 1
	blockPacketOld = 2
	blockSimple    = 3
	blockEnhanced  = 6
)

// blockBytes is the fixed part of a block's body, by type.
var blockBytes = [...]int{
	blockInterface: 8, blockPacketOld: 20, blockSimple: 4, blockEnhanced: 20,
}

// blocks reads a pcapng file. Blocks of other types are passed over.
func (c *capture) blocks() error {
	for len(c.rest) > 0 {
		kind, body, err := c.block()
		if err != nil {
			return err
		}
		if err = c.packetBlock(kind, body); err != nil {
			return err
		}
	}
	return nil
}

// block cuts the next block off the file; a section header sets the order. The
// length repeated at its end is for reading backwards and not looked at.
func (c *capture) block() (kind uint32, body []byte, err error) {
	if len(c.rest) >= 12 && binary.BigEndian.Uint32(c.rest) == blockSection {
		switch binary.BigEndian.Uint32(c.rest[8:]) {
		case 0x1a2b3c4d:
			c.order = binary.BigEndian
		case 0x4d3c2b1a:
			c.order = binary.LittleEndian
		default:
			return 0, nil, fmt.Errorf("%w: byte order magic %x", ErrDamaged, c.rest[8:12])
		}
		c.ifaces = c.ifaces[:0]
	}
	if len(c.rest) < 12 {
		return 0, nil, fmt.Errorf("%w: %d bytes of a block", ErrDamaged, len(c.rest))
	}
	n := c.order.Uint32(c.rest[4:])
	if n < 12 || n%4 != 0 {
		return 0, nil, fmt.Errorf("%w: block of %d bytes", ErrDamaged, n)
	}
	b, err := c.take(n)
	if err != nil {
		return 0, nil, err
	}
	return c.order.Uint32(b), b[8 : n-4], nil
}

// packetBlock handles the body of one block.
func (c *capture) packetBlock(kind uint32, b []byte) error {
	if kind < uint32(len(blockBytes)) && len(b) < blockBytes[kind] {
		return fmt.Errorf("%w: block type %d with %d bytes", ErrDamaged, kind, len(b))
	}
	u32 := c.order.Uint32
	switch kind {
	case blockInterface:
		c.ifaces = append(c.ifaces, iface{uint32(c.order.Uint16(b)), u32(b[4:])})
	case blockEnhanced:
		return c.ngFrame(u32(b), b[20:], u32(b[12:]), u32(b[16:]))
	case blockPacketOld:
		return c.ngFrame(uint32(c.order.Uint16(b)), b[20:], u32(b[12:]), u32(b[16:]))
	case blockSimple:
		n := u32(b)
		if len(c.ifaces) > 0 && c.ifaces[0].snap != 0 {
			n = min(n, c.ifaces[0].snap)
		}
		return c.ngFrame(0, b[4:], n, u32(b))
	}
	return nil
}

func (c *capture) ngFrame(i uint32, b []byte, caplen, orig uint32) error {
	if uint64(i) >= uint64(len(c.ifaces)) {
		return fmt.Errorf("%w: interface %d of %d", ErrDamaged, i, len(c.ifaces))
	}
	return c.add(b, caplen, orig, c.ifaces[i].link)
}
