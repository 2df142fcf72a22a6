package header

import "encoding/binary"

// Lengths in bytes.
const (
	PPPoEBytes = 8 // the PPP protocol field included
	MPLSBytes  = 4 // one label
)

// PPPoE is a view of a PPPoE session header (RFC 2516 4) and the PPP protocol
// field behind it.
type PPPoE [PPPoEBytes]byte

// PPP protocols (RFC 1332, 5072, 3032).
const (
	PPPIPv4     = 0x0021
	PPPIPv6     = 0x0057
	PPPMPLS     = 0x0281
	PPPMPLSMany = 0x0283 // multicast
)

// PPPoEAt views the header at off.
func PPPoEAt(b []byte, off int) *PPPoE { return (*PPPoE)(b[off:]) }

// Valid reports version 1, type 1 and code 0: data of a session.
func (h *PPPoE) Valid() bool     { return h[0] == 0x11 && h[1] == 0 }
func (h *PPPoE) Session() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Length counts what follows it, the PPP protocol field included.
func (h *PPPoE) Length() uint16 { return binary.BigEndian.Uint16(h[4:6]) }
func (h *PPPoE) Proto() uint16  { return binary.BigEndian.Uint16(h[6:8]) }

// SetSession writes a whole header in front of payload bytes.
func (h *PPPoE) SetSession(session, proto, payload uint16) {
	binary.BigEndian.PutUint64(h[0:8],
		0x1100<<48|uint64(session)<<32|uint64(payload+2)<<16|uint64(proto))
}

// MPLS is a view of one label stack entry (RFC 3032 2.1).
type MPLS [MPLSBytes]byte

// MPLSAt views the entry at off.
func MPLSAt(b []byte, off int) *MPLS { return (*MPLS)(b[off:]) }

func (h *MPLS) Label() uint32 { return binary.BigEndian.Uint32(h[0:4]) >> 12 }
func (h *MPLS) Class() uint8  { return h[2] >> 1 & 7 }
func (h *MPLS) Bottom() bool  { return h[2]&1 != 0 }
func (h *MPLS) TTL() uint8    { return h[3] }

// Set writes the 20-bit label, the 3-bit class, the bottom bit and the TTL.
func (h *MPLS) Set(label uint32, class uint8, bottom bool, ttl uint8) {
	v := label<<12 | uint32(class&7)<<9 | uint32(ttl)
	if bottom {
		v |= 1 << 8
	}
	binary.BigEndian.PutUint32(h[0:4], v)
}
