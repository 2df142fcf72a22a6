package header

import "encoding/binary"

// ARPBytes is the length of an ARP packet for IPv4 over Ethernet.
const ARPBytes = 28

// ARP is a view of an ARP packet for IPv4 over Ethernet (RFC 826). The address
// fields mean nothing unless IsEthernetIPv4.
type ARP [ARPBytes]byte

// ARP operations.
const (
	ARPRequest = 1
	ARPReply   = 2
)

// ARPAt views the packet at off.
func ARPAt(b []byte, off int) *ARP { return (*ARP)(b[off:]) }

func (h *ARP) Hardware() uint16 { return binary.BigEndian.Uint16(h[0:2]) }
func (h *ARP) Protocol() uint16 { return binary.BigEndian.Uint16(h[2:4]) }
func (h *ARP) Op() uint16       { return binary.BigEndian.Uint16(h[6:8]) }

// IsEthernetIPv4 reports whether the types and address lengths are those of
// IPv4 over Ethernet.
func (h *ARP) IsEthernetIPv4() bool {
	return binary.BigEndian.Uint64(h[0:8])>>16 == 0x0001_0800_0604
}

// The addresses are lent with the packet.

func (h *ARP) SenderMAC() *[6]byte { return (*[6]byte)(h[8:14]) }
func (h *ARP) SenderIP() *[4]byte  { return (*[4]byte)(h[14:18]) }
func (h *ARP) TargetMAC() *[6]byte { return (*[6]byte)(h[18:24]) }
func (h *ARP) TargetIP() *[4]byte  { return (*[4]byte)(h[24:28]) }

// SetEthernetIPv4 writes the types and address lengths of IPv4 over Ethernet,
// and the operation.
func (h *ARP) SetEthernetIPv4(op uint16) {
	binary.BigEndian.PutUint64(h[0:8], 0x0001_0800_0604<<16|uint64(op))
}
