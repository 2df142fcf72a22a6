package gso

import (
	"slices"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A stack is a kind of packet to cut.
type stack struct {
	name  string
	link  header.LinkType
	typ   packet.GSOType
	flags packet.GSOFlags
	outer func(i int) []layer // of segment i, down to the transport header
	spoil []int               // 16-bit fields outside of it that differ
}

const (
	firstID  = 0xffff // so that the second is 0
	innerID  = 4711
	fixed    = packet.GSOFixedID
	fixedIn  = packet.GSOFixedIDInner
	udpPlain = packet.GSOUDPTunnel
	udpSums  = packet.GSOUDPTunnelCSum
)

var (
	eth4, eth6 = ether(8, 0), ether(0x86, 0xdd)
	options8   = []byte{6, 0, 1, 4, 0, 0, 0, 0} // IPv6: next is TCP
)

func id(i int) int { return (firstID + i) & 0xffff }

func (s *stack) addrs() []byte {
	if s.typ == packet.GSOTCPv6 || s.name == "udp6" {
		return addr6
	}
	return addr4
}

// gso describes a packet of the stack to Cut.
func (s *stack) gso(size int, options []byte) packet.GSO {
	start := len(build(nil, s.outer(0)...))
	g := packet.GSO{Type: s.typ, Flags: s.flags, Size: uint16(size), CSumStart: uint16(start),
		CSumOffset: header.TCPSum, HdrLen: uint16(start + header.TCPBytes + len(options))}
	if s.typ == packet.GSOUDP {
		g.CSumOffset, g.HdrLen = header.UDPSum, uint16(start+header.UDPBytes)
	}
	return g
}

// segment is segment i as it goes on the wire.
func (s *stack) segment(i int, seq uint32, flags byte, options, payload []byte) []byte {
	l4 := tcp(s.addrs(), seq, flags, options...)
	if s.typ == packet.GSOUDP {
		l4 = udp(s.addrs(), 7)
	}
	return build(payload, append(s.outer(i), l4)...)
}

const eth, tcp4, tcp6 = header.LinkEthernet, packet.GSOTCPv4, packet.GSOTCPv6

var stacks = []stack{
	{"ip4", eth, tcp4, 0, func(i int) []layer {
		return []layer{eth4, ip4(6, id(i))}
	}, []int{16, 24}},
	{"ip4 fixed id", eth, tcp4, fixed, func(i int) []layer {
		return []layer{eth4, ip4(6, firstID)}
	}, []int{16, 24}},
	{"ip4 options", eth, tcp4, 0, func(i int) []layer {
		return []layer{eth4, ip4(6, id(i), 1, 1, 1, 1)}
	}, []int{16, 24}},
	{"raw", header.LinkRaw, tcp4, 0, func(i int) []layer {
		return []layer{ip4(6, id(i))}
	}, []int{2, 10}},
	{"cooked", header.LinkSLL, tcp4, 0, func(i int) []layer {
		return []layer{raw(0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0, 8, 0), ip4(6, id(i))}
	}, []int{18, 26}},
	{"vlan", eth, tcp4, 0, func(i int) []layer {
		return []layer{ether(0x81, 0, 0x60, 5, 8, 0), ip4(6, id(i))}
	}, []int{20, 28}},
	{"qinq", eth, tcp6, 0, func(i int) []layer {
		return []layer{ether(0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd), ip6(6)}
	}, []int{26}},
	{"ip6", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(6)}
	}, []int{18}},
	{"ip6 hop-by-hop", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(0, options8...)}
	}, []int{18}},
	{"ip6 destination", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(60, options8...)}
	}, []int{18}},
	{"ip6 routing, none left", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(43, 6, 0, 4, 0, 0, 0, 0, 0)}
	}, []int{18}},
	{"udp4", eth, packet.GSOUDP, 0, func(i int) []layer {
		return []layer{eth4, ip4(17, id(i))}
	}, []int{16, 24, 38}},
	{"udp6", eth, packet.GSOUDP, 0, func(i int) []layer {
		return []layer{eth6, ip6(17)}
	}, []int{18, 58}},
	{"ipip", eth, tcp4, 0, func(i int) []layer {
		return []layer{eth4, ip4(4, id(i)), ip4(6, innerID+i)}
	}, []int{16, 24, 36, 44}},
	{"ipip outer fixed", eth, tcp4, fixed, func(i int) []layer {
		return []layer{eth4, ip4(4, 0), ip4(6, innerID+i)}
	}, []int{16, 24, 36, 44}},
	{"ipip inner fixed", eth, tcp4, fixedIn, func(i int) []layer {
		return []layer{eth4, ip4(4, id(i)), ip4(6, innerID)}
	}, []int{16, 24, 36, 44}},
	{"sit", eth, tcp6, fixed, func(i int) []layer {
		return []layer{eth4, ip4(41, 7), ip6(6)}
	}, []int{16, 24, 38}},
	{"4in6", eth, tcp4, 0, func(i int) []layer {
		return []layer{eth6, ip6(4), ip4(6, id(i))}
	}, []int{18, 56, 64}},
	{"6in6", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(41), ip6(6)}
	}, []int{18, 58}},
	{"gre", eth, tcp4, 0, func(i int) []layer {
		return []layer{eth4, ip4(47, id(i)), raw(0, 0, 8, 0), ip4(6, innerID+i)}
	}, []int{16, 24, 40, 48}},
	{"gre sum key", eth, tcp4, packet.GSOGRECSum, func(i int) []layer {
		return []layer{eth4, ip4(47, id(i)), greSummed, ip4(6, innerID+i)}
	}, []int{16, 24, 38, 48, 56}},
	{"gre6", eth, tcp6, 0, func(i int) []layer {
		return []layer{eth6, ip6(47), raw(0, 0, 0x86, 0xdd), ip6(6)}
	}, []int{18, 62}},
	{"gretap vlan", eth, tcp4, fixed | fixedIn, func(i int) []layer {
		inner := ether(0x81, 0, 0, 5, 8, 0)
		return []layer{eth4, ip4(47, 8), raw(0, 0, 0x65, 0x58), inner, ip4(6, 9)}
	}, []int{16, 24, 58, 66}},
	{"vxlan", eth, tcp4, udpPlain, func(i int) []layer {
		return []layer{eth4, ip4(17, id(i)), udp(nil, 4789), vxlan, eth4, ip4(6, innerID+i)}
	}, []int{16, 24, 38, 66, 74}},
	{"vxlan sum", eth, tcp4, udpSums, func(i int) []layer {
		return []layer{eth4, ip4(17, id(i)), udp(addr4, 8472), vxlan, eth4, ip4(6, innerID+i)}
	}, []int{16, 24, 38, 40, 66, 74}},
	{"vxlan ip6 sum", eth, tcp6, udpSums, func(i int) []layer {
		return []layer{eth6, ip6(17), udp(addr6, 4789), vxlan, eth6, ip6(6)}
	}, []int{18, 58, 60, 88}},
}

func named(name string) *stack {
	i := slices.IndexFunc(stacks, func(s stack) bool { return s.name == name })
	return &stacks[i]
}
