package header

import "encoding/binary"

// Lengths of IPv6 headers in bytes.
const (
	IPv6Bytes         = 40
	IPv6FragmentBytes = 8
)

// IPv6 is a view of the fixed IPv6 header (RFC 8200 3).
type IPv6 [IPv6Bytes]byte

// IPv6At views the header at off.
func IPv6At(b []byte, off int) *IPv6 { return (*IPv6)(b[off:]) }

func (h *IPv6) Version() uint8 { return h[0] >> 4 }

// TrafficClass is DSCP (6 bits) and ECN (2 bits).
func (h *IPv6) TrafficClass() uint8 { return uint8(binary.BigEndian.Uint16(h[0:2]) >> 4) }
func (h *IPv6) FlowLabel() uint32   { return binary.BigEndian.Uint32(h[0:4]) & 0xfffff }

// PayloadLen counts the bytes behind this header, extension headers included;
// 0 in a jumbogram.
func (h *IPv6) PayloadLen() uint16 { return binary.BigEndian.Uint16(h[4:6]) }
func (h *IPv6) NextHeader() uint8  { return h[6] }
func (h *IPv6) HopLimit() uint8    { return h[7] }

// Src is the source address, lent with the header.
func (h *IPv6) Src() *[16]byte { return (*[16]byte)(h[8:24]) }

// Dst is the destination address, lent with the header.
func (h *IPv6) Dst() *[16]byte { return (*[16]byte)(h[24:40]) }

// SetFirst writes version 6, the traffic class and the 20-bit flow label.
func (h *IPv6) SetFirst(class uint8, label uint32) {
	binary.BigEndian.PutUint32(h[0:4], 6<<28|uint32(class)<<20|label&0xfffff)
}
func (h *IPv6) SetPayloadLen(v uint16) { binary.BigEndian.PutUint16(h[4:6], v) }
func (h *IPv6) SetNextHeader(v uint8)  { h[6] = v }
func (h *IPv6) SetHopLimit(v uint8)    { h[7] = v }

// IPv6Ext is a view of the first 8 bytes of a hop-by-hop, routing or
// destination options header (RFC 8200 4.3, 4.4, 4.6).
type IPv6Ext [8]byte

// IPv6ExtAt views the header at off.
func IPv6ExtAt(b []byte, off int) *IPv6Ext { return (*IPv6Ext)(b[off:]) }

func (h *IPv6Ext) NextHeader() uint8 { return h[0] }

// HeaderLen is the length of the whole header in bytes: 8 to 2048.
func (h *IPv6Ext) HeaderLen() int { return (int(h[1]) + 1) * 8 }

func (h *IPv6Ext) SetNextHeader(v uint8) { h[0] = v }

// SetHeaderLen writes the length, a multiple of 8 from 8 to 2048.
func (h *IPv6Ext) SetHeaderLen(n int) { h[1] = uint8(n/8 - 1) }

// IPv6Fragment is a view of a fragment header (RFC 8200 4.5).
type IPv6Fragment [IPv6FragmentBytes]byte

// IPv6FragmentAt views the header at off.
func IPv6FragmentAt(b []byte, off int) *IPv6Fragment { return (*IPv6Fragment)(b[off:]) }

func (h *IPv6Fragment) NextHeader() uint8 { return h[0] }

// Offset is the offset of this fragment in bytes, a multiple of 8.
func (h *IPv6Fragment) Offset() int { return int(binary.BigEndian.Uint16(h[2:4]) &^ 7) }

// More reports whether more fragments follow.
func (h *IPv6Fragment) More() bool { return h[3]&1 != 0 }
func (h *IPv6Fragment) ID() uint32 { return binary.BigEndian.Uint32(h[4:8]) }

func (h *IPv6Fragment) SetNextHeader(v uint8) { h[0] = v }

// SetFragment writes the offset in bytes, a multiple of 8, and the more bit.
func (h *IPv6Fragment) SetFragment(offset int, more bool) {
	v := uint16(offset) &^ 7
	if more {
		v |= 1
	}
	binary.BigEndian.PutUint16(h[2:4], v)
}
func (h *IPv6Fragment) SetID(v uint32) { binary.BigEndian.PutUint32(h[4:8], v) }
