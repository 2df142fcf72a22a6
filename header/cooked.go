package header

import "encoding/binary"

// Lengths of link headers that are not Ethernet, in bytes.
const (
	SLLBytes   = 16
	SLL2Bytes  = 20
	IPoIBBytes = 4
	NullBytes  = 4
)

// Hardware types of a cooked header (ARPHRD_ values of Linux) under which its
// protocol field is no EtherType.
const (
	HardwareFRAD     = 770
	HardwareRadiotap = 803
	HardwareNetlink  = 824
)

// SLL is a view of a Linux cooked header (LINKTYPE_LINUX_SLL).
type SLL [SLLBytes]byte

// SLLAt views the header at off.
func SLLAt(b []byte, off int) *SLL { return (*SLL)(b[off:]) }

// PacketType is 0 for us, 1 broadcast, 2 multicast, 3 for others, 4 outgoing.
func (h *SLL) PacketType() uint16 { return binary.BigEndian.Uint16(h[0:2]) }
func (h *SLL) Hardware() uint16   { return binary.BigEndian.Uint16(h[2:4]) }

// Addr is the sender's link address, lent with the header: at most 8 bytes,
// also when the address is longer.
func (h *SLL) Addr() []byte { return h[6 : 6+min(int(binary.BigEndian.Uint16(h[4:6])), 8)] }

// Proto is an EtherType, or for some hardware types something else.
func (h *SLL) Proto() uint16 { return binary.BigEndian.Uint16(h[14:16]) }

// SLL2 is a view of a Linux cooked header, version 2 (LINKTYPE_LINUX_SLL2).
type SLL2 [SLL2Bytes]byte

// SLL2At views the header at off.
func SLL2At(b []byte, off int) *SLL2 { return (*SLL2)(b[off:]) }

// Proto is an EtherType, or for some hardware types something else.
func (h *SLL2) Proto() uint16     { return binary.BigEndian.Uint16(h[0:2]) }
func (h *SLL2) Interface() uint32 { return binary.BigEndian.Uint32(h[4:8]) }
func (h *SLL2) Hardware() uint16  { return binary.BigEndian.Uint16(h[8:10]) }
func (h *SLL2) PacketType() uint8 { return h[10] }

// Addr is the sender's link address, lent with the header: at most 8 bytes,
// also when the address is longer.
func (h *SLL2) Addr() []byte { return h[12 : 12+min(int(h[11]), 8)] }

// IPoIB is a view of the encapsulation header of IP over InfiniBand (RFC 4391
// 6): an EtherType and two reserved bytes.
type IPoIB [IPoIBBytes]byte

// IPoIBAt views the header at off.
func IPoIBAt(b []byte, off int) *IPoIB { return (*IPoIB)(b[off:]) }

func (h *IPoIB) Type() uint16     { return binary.BigEndian.Uint16(h[0:2]) }
func (h *IPoIB) SetType(v uint16) { binary.BigEndian.PutUint32(h[0:4], uint32(v)<<16) }
