package header

import "encoding/binary"

// Length of an IPv4 header without options, and where its checksum lies, in
// bytes.
const (
	IPv4Bytes = 20
	IPv4Sum   = 10
)

// IPv4 is a view of the 20 fixed bytes of an IPv4 header (RFC 791 3.1).
type IPv4 [IPv4Bytes]byte

// Bits of IPv4.Fragment.
const (
	IPv4Evil       = 0x8000 // reserved, "evil" bit (RFC 3514)
	IPv4DF         = 0x4000 // do not fragment
	IPv4MF         = 0x2000 // more fragments follow
	IPv4OffsetMask = 0x1fff // in units of 8 bytes
)

// IPv4At views the header at off.
func IPv4At(b []byte, off int) *IPv4 { return (*IPv4)(b[off:]) }

func (h *IPv4) Version() uint8 { return h[0] >> 4 }

// HeaderLen is the length in bytes by the IHL field: 0 to 60, below 20 in a
// malformed header.
func (h *IPv4) HeaderLen() int { return int(h[0]&15) * 4 }

// TOS is DSCP (6 bits) and ECN (2 bits).
func (h *IPv4) TOS() uint8       { return h[1] }
func (h *IPv4) TotalLen() uint16 { return binary.BigEndian.Uint16(h[2:4]) }
func (h *IPv4) ID() uint16       { return binary.BigEndian.Uint16(h[4:6]) }

// Fragment is the flags and the fragment offset.
func (h *IPv4) Fragment() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// FragmentOffset is the offset of this fragment in bytes.
func (h *IPv4) FragmentOffset() int { return int(h.Fragment()&IPv4OffsetMask) * 8 }

// IsFragment reports whether the packet is a part of a datagram.
func (h *IPv4) IsFragment() bool { return h.Fragment()&(IPv4MF|IPv4OffsetMask) != 0 }
func (h *IPv4) TTL() uint8       { return h[8] }
func (h *IPv4) Proto() uint8     { return h[9] }
func (h *IPv4) Checksum() uint16 { return binary.BigEndian.Uint16(h[10:12]) }

// Src is the source address, lent with the header.
func (h *IPv4) Src() *[4]byte { return (*[4]byte)(h[12:16]) }

// Dst is the destination address, lent with the header.
func (h *IPv4) Dst() *[4]byte { return (*[4]byte)(h[16:20]) }

// SetHeaderLen writes version 4 and the length, a multiple of 4 from 20 to 60.
func (h *IPv4) SetHeaderLen(n int)   { h[0] = 0x40 | uint8(n/4)&15 }
func (h *IPv4) SetTOS(v uint8)       { h[1] = v }
func (h *IPv4) SetTotalLen(v uint16) { binary.BigEndian.PutUint16(h[2:4], v) }
func (h *IPv4) SetID(v uint16)       { binary.BigEndian.PutUint16(h[4:6], v) }
func (h *IPv4) SetFragment(v uint16) { binary.BigEndian.PutUint16(h[6:8], v) }
func (h *IPv4) SetTTL(v uint8)       { h[8] = v }
func (h *IPv4) SetProto(v uint8)     { h[9] = v }
func (h *IPv4) SetChecksum(v uint16) { binary.BigEndian.PutUint16(h[10:12], v) }

// IPv4Options lends the options of the header at off: nil when there are none,
// or when b ends before they do. The fixed part must be in b.
func IPv4Options(b []byte, off int) []byte {
	return options(b, off+IPv4Bytes, off+IPv4At(b, off).HeaderLen())
}

// options is b[from:to], nil where that is empty or does not lie in b.
func options(b []byte, from, to int) []byte {
	if to <= from || to > len(b) {
		return nil
	}
	return b[from:to:to]
}
