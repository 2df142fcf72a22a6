package header

import "encoding/binary"

// A LinkType says how the first bytes of a frame are to be read. No frame of
// one type is ever parsed as another.
type LinkType uint8

// Link types, with the LINKTYPE_ number of capture files beside each
// (www.tcpdump.org/linktypes.html).
const (
	LinkEthernet LinkType = iota // 1
	LinkRaw                      // 101, 12, 14, 228, 229: IPv4 or IPv6 by the version nibble
	LinkSLL                      // 113: Linux cooked v1, 16 bytes
	LinkSLL2                     // 276: Linux cooked v2, 20 bytes
	LinkIPoIB                    // 4-byte header: EtherType and two reserved bytes
	LinkNull                     // 0, 108: BSD loopback, a 4-byte address family
	LinkOpaque                   // every other: no byte of it is read as a header, Length is 0
	NumLinkTypes
)

var linkBytes = [NumLinkTypes]uint8{
	LinkEthernet: EthernetBytes, LinkSLL: SLLBytes, LinkSLL2: SLL2Bytes,
	LinkIPoIB: IPoIBBytes, LinkNull: NullBytes,
}

// HeaderLen is the length of the link header in bytes: 0 for LinkRaw,
// LinkOpaque and values that are no link type.
func (l LinkType) HeaderLen() int {
	if l >= NumLinkTypes {
		return 0
	}
	return int(linkBytes[l])
}

// netType is the EtherType of what follows the link header, 0 when that is not
// known. The link header must be in b.
func (l LinkType) netType(b []byte) uint16 {
	switch l {
	case LinkEthernet:
		return EthernetAt(b, 0).Type()
	case LinkRaw:
		return rawNetType(b)
	case LinkSLL:
		h := SLLAt(b, 0)
		return cookedType(h.Hardware(), h.Proto())
	case LinkSLL2:
		h := SLL2At(b, 0)
		return cookedType(h.Hardware(), h.Proto())
	case LinkIPoIB:
		return IPoIBAt(b, 0).Type()
	case LinkNull:
		return familyType((*[NullBytes]byte)(b))
	}
	return 0
}

func rawNetType(b []byte) uint16 {
	if len(b) == 0 {
		return 0
	}
	switch b[0] >> 4 {
	case 4:
		return TypeIPv4
	case 6:
		return TypeIPv6
	}
	return 0
}

// cookedType drops protocol fields that are no EtherType. Small values (1 for
// 802.3, 4 for LLC) match no EtherType and need no test.
func cookedType(hardware, proto uint16) uint16 {
	switch hardware {
	case HardwareFRAD, HardwareRadiotap, HardwareNetlink:
		return 0
	}
	return proto
}

// familyType reads a BSD address family. It is in the byte order of the machine
// that captured, and the systems give IPv6 four different numbers.
func familyType(b *[NullBytes]byte) uint16 {
	switch min(binary.BigEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[:])) {
	case 2:
		return TypeIPv4
	case 10, 24, 28, 30:
		return TypeIPv6
	}
	return 0
}
