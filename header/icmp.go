package header

import "encoding/binary"

// Lengths of ICMP and IGMP headers in bytes.
const (
	ICMPBytes = 8
	IGMPBytes = 8
)

// ICMP is a view of the first 8 bytes of an ICMP message, for IPv4 (RFC 792)
// or IPv6 (RFC 4443).
type ICMP [ICMPBytes]byte

// Echo message types.
const (
	ICMPEchoReply     = 0
	ICMPEchoRequest   = 8
	ICMPv6EchoRequest = 128
	ICMPv6EchoReply   = 129
)

// ICMPAt views the message at off.
func ICMPAt(b []byte, off int) *ICMP { return (*ICMP)(b[off:]) }

func (h *ICMP) Type() uint8      { return h[0] }
func (h *ICMP) Code() uint8      { return h[1] }
func (h *ICMP) Checksum() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// EchoID and EchoSeq mean something in echo messages only.

func (h *ICMP) EchoID() uint16  { return binary.BigEndian.Uint16(h[4:6]) }
func (h *ICMP) EchoSeq() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

func (h *ICMP) SetType(v uint8)      { h[0] = v }
func (h *ICMP) SetCode(v uint8)      { h[1] = v }
func (h *ICMP) SetChecksum(v uint16) { binary.BigEndian.PutUint16(h[2:4], v) }
func (h *ICMP) SetEchoID(v uint16)   { binary.BigEndian.PutUint16(h[4:6], v) }
func (h *ICMP) SetEchoSeq(v uint16)  { binary.BigEndian.PutUint16(h[6:8], v) }

// IGMP is a view of the first 8 bytes of an IGMP message (RFC 2236 2, RFC 3376
// 4).
type IGMP [IGMPBytes]byte

// IGMPAt views the message at off.
func IGMPAt(b []byte, off int) *IGMP { return (*IGMP)(b[off:]) }

func (h *IGMP) Type() uint8      { return h[0] }
func (h *IGMP) Checksum() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Group is the multicast address, lent with the message; not part of a version
// 3 report.
func (h *IGMP) Group() *[4]byte { return (*[4]byte)(h[4:8]) }
