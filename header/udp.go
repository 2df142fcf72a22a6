package header

import "encoding/binary"

// Length of a UDP header, and where its checksum lies, in bytes.
const (
	UDPBytes = 8
	UDPSum   = 6
)

// UDP is a view of a UDP header (RFC 768).
type UDP [UDPBytes]byte

// UDPAt views the header at off.
func UDPAt(b []byte, off int) *UDP { return (*UDP)(b[off:]) }

func (h *UDP) SrcPort() uint16 { return binary.BigEndian.Uint16(h[0:2]) }
func (h *UDP) DstPort() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Ports is the source port in the upper half, the destination in the lower.
func (h *UDP) Ports() uint32 { return binary.BigEndian.Uint32(h[0:4]) }

// Length counts header and payload.
func (h *UDP) Length() uint16 { return binary.BigEndian.Uint16(h[4:6]) }

// Checksum is 0 when the sender made none.
func (h *UDP) Checksum() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

func (h *UDP) SetSrcPort(v uint16)  { binary.BigEndian.PutUint16(h[0:2], v) }
func (h *UDP) SetDstPort(v uint16)  { binary.BigEndian.PutUint16(h[2:4], v) }
func (h *UDP) SetLength(v uint16)   { binary.BigEndian.PutUint16(h[4:6], v) }
func (h *UDP) SetChecksum(v uint16) { binary.BigEndian.PutUint16(h[6:8], v) }
