package header

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

func sll(hardware, proto uint16) []byte {
	return []byte{0, 0, byte(hardware >> 8), byte(hardware), 0, 6, 1, 2, 3, 4, 5, 6, 0, 0,
		byte(proto >> 8), byte(proto)}
}

func sll2(hardware, proto uint16) []byte {
	return []byte{byte(proto >> 8), byte(proto), 0, 0, 0, 0, 0, 9, byte(hardware >> 8),
		byte(hardware), 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}
}

var linkCases = []struct {
	name  string
	link  LinkType
	frame []byte
	want  int
}{
	{"raw ip4/tcp", LinkRaw, tcp4, 40},
	{"raw ip6/tcp", LinkRaw, ip6(ProtoTCP, tcpSize(8)), 72},
	{"raw ip4/gre/ip6", LinkRaw, ip4(ProtoGRE, 0, 0, gre(0, TypeIPv6, ip6(17, fill(30)))), 72},
	{"raw, version 5", LinkRaw, append([]byte{0x55}, tcp4[1:]...), 0},
	{"raw, 19 bytes", LinkRaw, tcp4[:19], 0},
	{"raw, empty", LinkRaw, nil, 0},
	// As Ethernet, these bytes are a frame of type IPv4.
	{"raw that looks like ethernet", LinkRaw, cat([]byte{0x45}, make([]byte, 11), []byte{8, 0},
		tcp4), 20},

	{"sll ip4/tcp", LinkSLL, cat(sll(1, TypeIPv4), tcp4), 56},
	{"sll vlan/ip6/udp", LinkSLL, cat(sll(1, TypeVLAN), tag(TypeIPv6), ip6(17, fill(30))), 68},
	{"sll ppp device, ip4", LinkSLL, cat(sll(512, TypeIPv4), tcp4), 56},
	{"sll 802.3", LinkSLL, cat(sll(1, 1), tcp4), 16},
	{"sll llc", LinkSLL, cat(sll(1, 4), tcp4), 16},
	{"sll netlink, family 0x0800", LinkSLL, cat(sll(HardwareNetlink, TypeIPv4), tcp4), 16},
	{"sll radiotap", LinkSLL, cat(sll(HardwareRadiotap, TypeIPv4), tcp4), 16},
	{"sll arp", LinkSLL, cat(sll(1, TypeARP), fill(28)), 16},
	{"sll, 15 bytes", LinkSLL, sll(1, TypeIPv4)[:15], 15},
	{"sll, 16 bytes", LinkSLL, sll(1, TypeIPv4), 16},

	{"sll2 ip4/tcp", LinkSLL2, cat(sll2(1, TypeIPv4), tcp4), 60},
	{"sll2 ip6/tcp", LinkSLL2, cat(sll2(1, TypeIPv6), ip6(ProtoTCP, tcpSize(5))), 80},
	{"sll2 netlink", LinkSLL2, cat(sll2(HardwareNetlink, TypeIPv4), tcp4), 20},
	{"sll2 llc", LinkSLL2, cat(sll2(1, 4), tcp4), 20},
	{"sll2, 19 bytes", LinkSLL2, sll2(1, TypeIPv4)[:19], 19},

	{"ipoib ip4/tcp", LinkIPoIB, cat([]byte{8, 0, 0, 0}, tcp4), 44},
	{"ipoib ip6/udp", LinkIPoIB, cat([]byte{0x86, 0xdd, 0, 0}, ip6(17, fill(30))), 52},
	{"ipoib arp", LinkIPoIB, cat([]byte{8, 6, 0, 0}, fill(56)), 4},
	{"ipoib, 3 bytes", LinkIPoIB, []byte{8, 0, 0}, 3},

	{"null little ip4", LinkNull, cat([]byte{2, 0, 0, 0}, tcp4), 44},
	{"null big ip4", LinkNull, cat([]byte{0, 0, 0, 2}, tcp4), 44},
	{"null ip6 linux", LinkNull, cat([]byte{10, 0, 0, 0}, ip6(17, fill(30))), 52},
	{"null ip6 netbsd", LinkNull, cat([]byte{0, 0, 0, 24}, ip6(17, fill(30))), 52},
	{"null ip6 freebsd", LinkNull, cat([]byte{28, 0, 0, 0}, ip6(17, fill(30))), 52},
	{"null ip6 darwin", LinkNull, cat([]byte{30, 0, 0, 0}, ip6(17, fill(30))), 52},
	{"null appletalk", LinkNull, cat([]byte{16, 0, 0, 0}, tcp4), 4},
	{"null, family 0x200", LinkNull, cat([]byte{0, 2, 0, 0}, tcp4), 4},
	{"null, 2 bytes", LinkNull, []byte{2, 0}, 2},

	{"opaque", LinkOpaque, cat(eth(TypeIPv4), tcp4), 0},
	{"no link type", NumLinkTypes, cat(eth(TypeIPv4), tcp4), 0},
	{"no link type", 255, cat(eth(TypeIPv4), tcp4), 0},
}

func TestLengthLinks(t *testing.T) {
	for _, tt := range linkCases {
		if got := Length(tt.link, tt.frame); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestHeaderLen(t *testing.T) {
	want := map[LinkType]int{LinkEthernet: 14, LinkSLL: 16, LinkSLL2: 20, LinkIPoIB: 4, LinkNull: 4}
	for link := range LinkType(255) {
		if got := link.HeaderLen(); got != want[link] {
			t.Errorf("link %d: %d, want %d", link, got, want[link])
		}
	}
}

// Behind another link header that says the same, a frame has the same headers.
func TestLengthLinksAgree(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range uint64(3000) {
		s := source{Rand: testenv.Rand(seed, i)}
		frame := s.frame()
		typ := binary.BigEndian.Uint16(frame[12:])
		want := Length(LinkEthernet, frame) - EthernetBytes
		for link, h := range map[LinkType][]byte{
			LinkSLL: sll(1, typ), LinkSLL2: sll2(1, typ), LinkIPoIB: {frame[12], frame[13], 0, 0},
		} {
			if got := Length(link, cat(h, frame[14:])) - len(h); got != want {
				t.Fatalf("link %d: %d, Ethernet %d\n%x", link, got, want, frame)
			}
		}
	}
}
