package header

import (
	"bytes"
	"testing"
)

func fill(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }

// tcpSize is a TCP header with that data offset field, then payload.
func tcpSize(words byte) []byte {
	b := append(make([]byte, 20), fill(int(words)*4+100)...)
	b[12] = words << 4
	return b
}

// optionHeaders is n destination options headers of 8 bytes, then TCP.
func optionHeaders(n int) []byte {
	b := tcpSize(5)
	for next := byte(ProtoTCP); n > 0; n-- {
		b = ext(next, 8, b)
		next = ProtoDestOpts
	}
	return b
}

// batman is a unicast header of batman-adv with Ethernet inside.
func batman(kind, version byte) []byte {
	return cat([]byte{kind, version, 50, 1, 0, 0, 0, 0, 0, 0}, eth(TypeIPv4))
}

var (
	tcp4 = ip4(ProtoTCP, 0, 0, tcpSize(5))
	ext8 = func(next byte) []byte { return ext(next, 8, tcpSize(5)) }
)

// What the kernel's dissector answers (facts/gro.md B.4), and where it fails
// the position by B.2.
var lengthCases = []struct {
	name  string
	frame []byte
	want  int
}{
	{"ip4/tcp", cat(eth(TypeIPv4), tcp4), 54},
	{"ip4/tcp doff 8", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 0, tcpSize(8))), 66},
	{"ip4/tcp doff 15", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 0, tcpSize(15))), 94},
	{"ip4/tcp doff 0", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 0, tcpSize(0))), 54},
	{"ip4 ihl 15/tcp", cat(eth(TypeIPv4), ip4(ProtoTCP, 40, 0, tcpSize(5))), 94},
	{"ip4 ihl 4", cat(eth(TypeIPv4), []byte{0x44}, tcp4[1:]), 14},
	{"ip4 version 7", cat(eth(TypeIPv4), []byte{0x75}, tcp4[1:]), 54},
	{"ip4/udp, vxlan", cat(eth(TypeIPv4), ip4(ProtoUDP, 0, 0, udp(PortVXLAN, fill(100)))), 42},
	{"ip4/udp, 4 bytes", cat(eth(TypeIPv4), ip4(ProtoUDP, 0, 0, fill(4))), 38},
	{"ip4/icmp", cat(eth(TypeIPv4), ip4(ProtoICMP, 0, 0, fill(100))), 42},
	{"ip4/igmp", cat(eth(TypeIPv4), ip4(ProtoIGMP, 0, 0, fill(100))), 42},
	{"ip4/sctp", cat(eth(TypeIPv4), ip4(ProtoSCTP, 0, 0, fill(100))), 46},
	{"ip4/dccp", cat(eth(TypeIPv4), ip4(ProtoDCCP, 0, 0, fill(100))), 46},
	{"ip4/esp", cat(eth(TypeIPv4), ip4(ProtoESP, 0, 0, fill(100))), 34},
	{"ip4/udplite", cat(eth(TypeIPv4), ip4(ProtoUDPLite, 0, 0, fill(100))), 42},
	{"ip4/hop-by-hop", cat(eth(TypeIPv4), ip4(ProtoHopByHop, 0, 0, ext8(ProtoTCP))), 34},
	{"ip4/routing", cat(eth(TypeIPv4), ip4(ProtoRouting, 0, 0, ext8(ProtoTCP))), 34},
	{"ip4/fragment", cat(eth(TypeIPv4), ip4(ProtoFragment, 0, 0, ext8(ProtoTCP))), 34},
	{"ip4/destination", cat(eth(TypeIPv4), ip4(ProtoDestOpts, 0, 0, ext8(ProtoTCP))), 34},
	{"ip4 first fragment, tcp", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, IPv4MF, tcpSize(8))), 66},
	{"ip4 later fragment, tcp", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 16, tcpSize(5))), 34},
	{"ip4 last fragment, udp", cat(eth(TypeIPv4), ip4(ProtoUDP, 0, 0x1fff, fill(40))), 34},
	{"ip4 first fragment, ipip", cat(eth(TypeIPv4), ip4(ProtoIPv4, 0, IPv4MF, tcp4)), 34},

	{"ip6/tcp", cat(eth(TypeIPv6), ip6(ProtoTCP, tcpSize(5))), 74},
	{"ip6/udp", cat(eth(TypeIPv6), ip6(ProtoUDP, fill(100))), 62},
	{"ip6/icmp6", cat(eth(TypeIPv6), ip6(ProtoICMPv6, fill(100))), 62},
	{"ip6/hbh/tcp", cat(eth(TypeIPv6), ip6(ProtoHopByHop, ext8(ProtoTCP))), 82},
	{"ip6/hbh of 2048/tcp", cat(eth(TypeIPv6), ip6(ProtoHopByHop,
		ext(ProtoTCP, 2048, tcpSize(5)))), 54 + 2048 + 20},
	{"ip6/ah/tcp", cat(eth(TypeIPv6), ip6(ProtoAH, ext8(ProtoTCP))), 54},
	{"ip6/no next", cat(eth(TypeIPv6), ip6(ProtoNoNext, fill(100))), 54},
	{"ip6/first fragment/tcp", cat(eth(TypeIPv6), ip6(ProtoFragment, ext8(ProtoTCP))), 82},
	{"ip6/later fragment/tcp", cat(eth(TypeIPv6), ip6(ProtoFragment,
		cat([]byte{6, 0, 0x05, 0xc9, 0, 0, 0, 1}, tcpSize(5)))), 62},
	{"ip6/first fragment/options", cat(eth(TypeIPv6), ip6(ProtoFragment,
		ext(ProtoDestOpts, 8, ext8(ProtoTCP)))), 62},
	{"ip6/options, none", cat(eth(TypeIPv6), ip6(ProtoHopByHop, fill(1))), 54},
	{"ip6/fragment, 7 bytes", cat(eth(TypeIPv6), ip6(ProtoFragment, fill(7))), 54},
	{"13 options", cat(eth(TypeIPv6), ip6(ProtoDestOpts, optionHeaders(13))), 178},
	{"14 options", cat(eth(TypeIPv6), ip6(ProtoDestOpts, optionHeaders(14))), 186},
	{"15 options", cat(eth(TypeIPv6), ip6(ProtoDestOpts, optionHeaders(15))), 194},
	{"16 options", cat(eth(TypeIPv6), ip6(ProtoDestOpts, optionHeaders(16))), 202},
	{"17 options", cat(eth(TypeIPv6), ip6(ProtoDestOpts, optionHeaders(17))), 182},

	{"vlan/ip4/tcp", cat(eth(TypeVLAN), tag(TypeIPv4), tcp4), 58},
	{"qinq/ip4/tcp", cat(eth(TypeQinQ), tag(TypeVLAN), tag(TypeIPv4), tcp4), 62},
	{"vlan, 3 bytes", cat(eth(TypeVLAN), fill(3)), 14},
	{"20 tags", cat(eth(TypeVLAN), bytes.Repeat(tag(TypeVLAN), 19), tag(TypeIPv4), tcp4), 78},
	{"ipip/tcp", cat(eth(TypeIPv4), ip4(ProtoIPv4, 0, 0, tcp4)), 74},
	{"ipip, later fragment inside", cat(eth(TypeIPv4), ip4(ProtoIPv4, 0, 0,
		ip4(ProtoTCP, 0, 5, tcpSize(5)))), 54},
	{"sit/tcp", cat(eth(TypeIPv4), ip4(ProtoIPv6, 0, 0, ip6(ProtoTCP, tcpSize(5)))), 94},
	{"sit/options/tcp", cat(eth(TypeIPv4), ip4(ProtoIPv6, 0, 0,
		ip6(ProtoDestOpts, ext8(ProtoTCP)))), 102},
	{"4in6/tcp", cat(eth(TypeIPv6), ip6(ProtoIPv4, tcp4)), 94},
	{"4in6/destination", cat(eth(TypeIPv6), ip6(ProtoIPv4,
		ip4(ProtoDestOpts, 0, 0, ext8(ProtoTCP)))), 74},
	{"ip4/mpls", cat(eth(TypeIPv4), ip4(ProtoMPLS, 0, 0, fill(60))), 38},
	{"mpls/ip4/tcp", cat(eth(TypeMPLS), []byte{0, 1, 1, 64}, tcp4), 18},
	{"2 mpls/ip4/tcp", cat(eth(TypeMPLS), []byte{0, 1, 0, 64, 0, 1, 1, 64}, tcp4), 18},
	{"mpls, 3 bytes", cat(eth(TypeMPLSMany), fill(3)), 17},
	{"arp", cat(eth(TypeARP), fill(46)), 14},
	{"rarp, 2 bytes", cat(eth(TypeRARP), fill(2)), 14},
	{"cfm", cat(eth(TypeCFM), fill(46)), 14},
	{"tipc", cat(eth(TypeTIPC), fill(46)), 14},
	{"ptp", cat(eth(TypePTP), fill(60)), 48},
	{"ptp, 33 bytes", cat(eth(TypePTP), fill(33)), 14},
	{"fcoe", cat(eth(TypeFCoE), fill(60)), 52},
	{"fcoe, 37 bytes", cat(eth(TypeFCoE), fill(37)), 14},
	{"hsr/ip4/tcp", cat(eth(TypeHSR), []byte{0, 16, 0, 1, 8, 0}, tcp4), 60},
	{"prp/ip4/tcp", cat(eth(TypePRP), []byte{0, 16, 0, 1, 8, 0}, tcp4), 60},
	{"hsr, 5 bytes", cat(eth(TypeHSR), fill(5)), 14},
	{"batman unicast", cat(eth(TypeBatman), batman(0x40, 15), tcp4), 78},
	{"batman, other version", cat(eth(TypeBatman), batman(0x40, 14), tcp4), 14},
	{"batman, other packet", cat(eth(TypeBatman), batman(0x41, 15), tcp4), 14},
	{"unknown type", cat(eth(0x9000), fill(100)), 14},
	{"802.3 length", cat(eth(46), fill(100)), 14},
	{"lldp", cat(eth(0x88cc), fill(100)), 14},
	{"nsh", cat(eth(0x894f), fill(108)), 14},
	{"macsec", cat(eth(0x88e5), fill(100)), 14},
	{"vlan/unknown", cat(eth(TypeVLAN), tag(0x9000), fill(100)), 18},
	{"10 bytes", fill(10), 10},
	{"14 bytes", eth(TypeIPv4), 14},
	{"empty", nil, 0},
}

func TestLength(t *testing.T) {
	for _, tt := range lengthCases {
		if got := Length(LinkEthernet, tt.frame); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// The tunnel part of the same table: GRE, PPTP and PPPoE.
var tunnelCases = []struct {
	name  string
	inner []byte // behind Ethernet, or behind Ethernet and IPv4 with protocol 47
	want  int
}{
	{"gre/ip4/tcp", gre(0, TypeIPv4, tcp4), 78},
	{"gre K", gre(GREKey, TypeIPv4, tcp4), 82},
	{"gre CKS", gre(GREChecksum|GREKey|GRESeq, TypeIPv4, tcp4), 90},
	{"gre R", gre(GRERouting, TypeIPv4, tcp4), 34},
	{"gre version 2", gre(2, TypeIPv4, tcp4), 34},
	{"gre, 3 bytes", fill(3), 34},
	{"gre K, 3 bytes of key", gre(GREKey, TypeIPv4, nil)[:7], 34},
	{"gre S, 3 bytes of sequence", gre(GRESeq, TypeIPv4, nil)[:7], 41},
	{"gre/unknown", gre(GREKey, 0x88be, fill(60)), 42},
	{"gre/arp", gre(0, TypeARP, fill(60)), 38},
	{"gre/vlan/ip4", gre(0, TypeVLAN, cat(tag(TypeIPv4), tcp4)), 82},
	{"gre/mpls", gre(0, TypeMPLS, fill(60)), 42},
	{"gretap", gre(0, TypeTEB, cat(eth(TypeIPv4), tcp4)), 92},
	{"gretap K, later fragment", gre(GREKey, TypeTEB,
		cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 7, tcpSize(5)))), 76},
	{"gretap/unknown", gre(0, TypeTEB, cat(eth(0x9000), tcp4)), 52},
	{"gretap, 13 bytes", gre(0, TypeTEB, fill(13)), 34},
	{"pptp KS/ip4", cat(gre(GREKey|GRESeq|1, TypePPP, []byte{0xff, 3, 0, 0x21}), tcp4), 90},
	{"pptp KSA/ip6", cat(gre(GREKey|GRESeq|1|GREAck, TypePPP, fill(4)),
		[]byte{0xff, 3, 0, 0x57}, ip6(ProtoTCP, tcpSize(5))), 114},
	{"pptp/lcp", cat(gre(GREKey|1, TypePPP, []byte{0xff, 3, 0xc0, 0x21}), tcp4), 46},
	{"pptp, 3 bytes of ppp", gre(GREKey|1, TypePPP, fill(3)), 34},
	{"pptp without key", gre(1, TypePPP, tcp4), 34},
	{"gre version 1 with ip", gre(GREKey|1, TypeIPv4, tcp4), 34},
}

func TestLengthGRE(t *testing.T) {
	for _, tt := range tunnelCases {
		frame := cat(eth(TypeIPv4), ip4(ProtoGRE, 0, 0, tt.inner))
		if got := Length(LinkEthernet, frame); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestLengthPPPoE(t *testing.T) {
	tests := []struct {
		name   string
		header []byte
		rest   []byte
		want   int
	}{
		{"ip4/tcp", []byte{0x11, 0, 0, 1, 0, 0x7a, 0, 0x21}, tcp4, 62},
		{"ip6/tcp", []byte{0x11, 0, 0, 1, 0, 0x7a, 0, 0x57}, ip6(ProtoTCP, tcpSize(5)), 82},
		{"mpls", []byte{0x11, 0, 0, 1, 0, 0x7a, 2, 0x81}, tcp4, 26},
		{"mpls multicast", []byte{0x11, 0, 0, 1, 0, 0x7a, 2, 0x83}, tcp4, 26},
		{"lcp", []byte{0x11, 0, 0, 1, 0, 0x7a, 0xc0, 0x21}, fill(100), 22},
		{"bad version", []byte{0x21, 0, 0, 1, 0, 0x7a, 0, 0x21}, tcp4, 14},
		{"code 9", []byte{0x11, 9, 0, 0, 0, 0x7a, 0, 0x21}, tcp4, 14},
		{"even protocol", []byte{0x11, 0, 0, 1, 0, 0x7a, 0, 0x22}, tcp4, 22},
		{"compressed protocol", []byte{0x11, 0, 0, 1, 0, 0x7a, 0x21, 0x45}, tcp4[1:], 22},
		{"7 bytes", []byte{0x11, 0, 0, 1, 0, 0x7a, 0}, nil, 14},
	}
	for _, tt := range tests {
		if got := Length(LinkEthernet, cat(eth(TypePPPoE), tt.header, tt.rest)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// The dissector's own cases in the kernel (facts/gro.md B.5): 82 bytes, all
// but the named fields zero.
func TestLengthKernelCases(t *testing.T) {
	tests := []struct {
		name   string
		header []byte
		want   int
	}{
		{"ipv4", cat(eth(TypeIPv4), ip4(6, 0, 0, tcp(0, 0))), 54},
		{"ipv6", cat(eth(TypeIPv6), ip6(6, tcp(0, 0))), 74},
		{"802.1q-ipv4", cat(eth(TypeVLAN), tag(TypeIPv4), ip4(6, 0, 0, tcp(0, 0))), 58},
		{"802.1ad-ipv6", cat(eth(TypeQinQ), tag(TypeVLAN), tag(TypeIPv6), ip6(6, tcp(0, 0))), 82},
		{"ipv4-frag", cat(eth(TypeIPv4), ip4(6, 0, IPv4MF, tcp(0, 0))), 54},
		{"ipv6-frag", cat(eth(TypeIPv6), ip6(44, ext(6, 8, tcp(0, 0)))), 82},
		{"ipip-encap", cat(eth(TypeIPv4), ip4(4, 0, 0, ip4(6, 0, 0, tcp(0, 0)))), 74},
		{"ip-gre", cat(eth(TypeIPv4), ip4(47, 0, 0,
			gre(0, TypeIPv4, ip4(6, 0, 0, tcp(0, 0))))), 78},
	}
	for _, tt := range tests {
		var frame [82]byte
		copy(frame[:], tt.header)
		if got := Length(LinkEthernet, frame[:]); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// The kernel's 16-bit clamp, seen in the shared golden data.
func TestLengthBeyond64K(t *testing.T) {
	long := make([]byte, 65549) // clamps to 13
	copy(long, eth(TypeTIPC))
	if got := Length(LinkEthernet, long); got != 13 {
		t.Errorf("TIPC: %d, want 13", got)
	}
	long = append(cat(eth(TypeIPv6), ip6(ProtoHopByHop, ext(ProtoICMPv6, 8, nil))),
		make([]byte, 65590-62)...) // to 54
	if got := Length(LinkEthernet, long); got != 62 {
		t.Errorf("IPv6 options, ICMPv6: %d, want 62", got)
	}
}

func TestLengthAllocates(t *testing.T) {
	frame := cat(eth(TypeVLAN), tag(TypeIPv4), ip4(ProtoGRE, 0, 0, gre(GREKey, TypeTEB,
		cat(eth(TypeIPv6), ip6(ProtoDestOpts, ext8(ProtoTCP))))))
	if n := testing.AllocsPerRun(100, func() { Length(LinkEthernet, frame) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
