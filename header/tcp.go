package header

import "encoding/binary"

// Length of a TCP header without options, and where its checksum lies, in bytes.
const (
	TCPBytes = 20
	TCPSum   = 16
)

// TCP is a view of the 20 fixed bytes of a TCP header (RFC 9293 3.1).
type TCP [TCPBytes]byte

// Bits of TCP.Flags.
const (
	TCPFin = 1 << iota
	TCPSyn
	TCPRst
	TCPPsh
	TCPAck
	TCPUrg
	TCPEce
	TCPCwr
	TCPAe // the lowest of the reserved bits (accurate ECN, RFC 9768)
)

// TCPAt views the header at off.
func TCPAt(b []byte, off int) *TCP { return (*TCP)(b[off:]) }

func (h *TCP) SrcPort() uint16 { return binary.BigEndian.Uint16(h[0:2]) }
func (h *TCP) DstPort() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Ports is the source port in the upper half, the destination in the lower.
func (h *TCP) Ports() uint32 { return binary.BigEndian.Uint32(h[0:4]) }
func (h *TCP) Seq() uint32   { return binary.BigEndian.Uint32(h[4:8]) }
func (h *TCP) Ack() uint32   { return binary.BigEndian.Uint32(h[8:12]) }

// HeaderLen is the length in bytes by the data offset field: 0 to 60, below 20
// in a malformed header.
func (h *TCP) HeaderLen() int { return int(h[12]>>4) * 4 }

// Flags are the 12 bits from the reserved bits to FIN.
func (h *TCP) Flags() uint16 { return binary.BigEndian.Uint16(h[12:14]) & 0x0fff }

// Word is the data offset, the flags and the window in one: what GRO compares.
func (h *TCP) Word() uint32     { return binary.BigEndian.Uint32(h[12:16]) }
func (h *TCP) Window() uint16   { return binary.BigEndian.Uint16(h[14:16]) }
func (h *TCP) Checksum() uint16 { return binary.BigEndian.Uint16(h[16:18]) }
func (h *TCP) Urgent() uint16   { return binary.BigEndian.Uint16(h[18:20]) }

func (h *TCP) SetSrcPort(v uint16) { binary.BigEndian.PutUint16(h[0:2], v) }
func (h *TCP) SetDstPort(v uint16) { binary.BigEndian.PutUint16(h[2:4], v) }
func (h *TCP) SetSeq(v uint32)     { binary.BigEndian.PutUint32(h[4:8], v) }
func (h *TCP) SetAck(v uint32)     { binary.BigEndian.PutUint32(h[8:12], v) }

// SetHeaderLen writes the length, a multiple of 4 from 20 to 60, and leaves
// the flags.
func (h *TCP) SetHeaderLen(n int) { h[12] = uint8(n/4)<<4 | h[12]&15 }

// SetFlags writes the 12 flag bits and leaves the length.
func (h *TCP) SetFlags(v uint16) {
	binary.BigEndian.PutUint16(h[12:14], uint16(h[12])<<8&0xf000|v&0x0fff)
}
func (h *TCP) SetWindow(v uint16)   { binary.BigEndian.PutUint16(h[14:16], v) }
func (h *TCP) SetChecksum(v uint16) { binary.BigEndian.PutUint16(h[16:18], v) }
func (h *TCP) SetUrgent(v uint16)   { binary.BigEndian.PutUint16(h[18:20], v) }

// TCPOptions lends the options of the header at off: nil when there are none,
// or when b ends before they do. The fixed part must be in b.
func TCPOptions(b []byte, off int) []byte {
	return options(b, off+TCPBytes, off+TCPAt(b, off).HeaderLen())
}
