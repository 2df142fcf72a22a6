package header

import "encoding/binary"

// GREBytes is the length of a GRE header without optional fields.
const GREBytes = 4

// GRE is a view of the 4 fixed bytes of a GRE header: version 0 (RFC 2784,
// RFC 2890) or version 1, PPTP (RFC 2637 4.1).
type GRE [GREBytes]byte

// Bits of GRE.Flags.
const (
	GREChecksum    = 0x8000
	GRERouting     = 0x4000 // RFC 1701 only
	GREKey         = 0x2000
	GRESeq         = 0x1000
	GREAck         = 0x0080 // version 1 only
	GREVersionMask = 0x0007
)

// GREAt views the header at off.
func GREAt(b []byte, off int) *GRE { return (*GRE)(b[off:]) }

// Flags are the first 16 bits, version included.
func (h *GRE) Flags() uint16  { return binary.BigEndian.Uint16(h[0:2]) }
func (h *GRE) Version() uint8 { return h[1] & GREVersionMask }

// Proto is the EtherType of what is inside.
func (h *GRE) Proto() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

func (h *GRE) SetFlags(v uint16) { binary.BigEndian.PutUint16(h[0:2], v) }
func (h *GRE) SetProto(v uint16) { binary.BigEndian.PutUint16(h[2:4], v) }

// KeyOffset is where the key lies, from the start of the header, if there is
// one: behind the checksum.
func (h *GRE) KeyOffset() int { return GREBytes + int(h[0]>>7)*4 }

// HeaderLen is the length in bytes with the optional fields, routing apart: 4
// to 20.
func (h *GRE) HeaderLen() int {
	n := h.KeyOffset() + int(h[0]>>5&1)*4 + int(h[0]>>4&1)*4
	if h.Version() == 1 {
		n += int(h[1]>>7) * 4 // acknowledgment
	}
	return n
}
