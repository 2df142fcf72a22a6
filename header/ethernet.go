package header

import "encoding/binary"

// Lengths of link headers and tags, and where a tag begins with its EtherType:
// behind the addresses. In bytes.
const (
	EthernetBytes = 14
	VLANBytes     = 4
	TagOffset     = 12
)

// InsertTag puts a tag into the frame that begins VLANBytes behind the start of
// b and has an Ethernet header: the addresses move to the start.
func InsertTag(b []byte, tagType, tci uint16) {
	copy(b[:TagOffset], b[VLANBytes:])
	binary.BigEndian.PutUint16(b[TagOffset:], tagType)
	binary.BigEndian.PutUint16(b[TagOffset+2:], tci)
}

// Ethernet is a view of an Ethernet header (IEEE 802.3 clause 3).
type Ethernet [EthernetBytes]byte

// EthernetAt views the header at off.
func EthernetAt(b []byte, off int) *Ethernet { return (*Ethernet)(b[off:]) }

// Dst is the destination address, lent with the header.
func (h *Ethernet) Dst() *[6]byte { return (*[6]byte)(h[0:6]) }

// Src is the source address, lent with the header.
func (h *Ethernet) Src() *[6]byte { return (*[6]byte)(h[6:12]) }

// Type is the EtherType; below 0x0600 it is a length (IEEE 802.3 3.2.6).
func (h *Ethernet) Type() uint16 { return binary.BigEndian.Uint16(h[12:14]) }

func (h *Ethernet) SetType(v uint16) { binary.BigEndian.PutUint16(h[12:14], v) }

// VLAN is a view of the 4 bytes that follow the EtherType of a tag: its
// control information and the next EtherType (IEEE 802.1Q 9.6).
type VLAN [VLANBytes]byte

// VLANAt views the tag whose control information is at off.
func VLANAt(b []byte, off int) *VLAN { return (*VLAN)(b[off:]) }

// TCI is priority (3 bits), drop eligible (1) and VLAN identifier (12).
func (h *VLAN) TCI() uint16 { return binary.BigEndian.Uint16(h[0:2]) }

func (h *VLAN) Priority() uint8 { return h[0] >> 5 }
func (h *VLAN) DropEligible() bool {
	return h[0]&0x10 != 0
}
func (h *VLAN) ID() uint16   { return h.TCI() & 0x0fff }
func (h *VLAN) Type() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

func (h *VLAN) SetTCI(v uint16)  { binary.BigEndian.PutUint16(h[0:2], v) }
func (h *VLAN) SetType(v uint16) { binary.BigEndian.PutUint16(h[2:4], v) }
