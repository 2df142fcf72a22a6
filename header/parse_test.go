package header

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Pieces of frames. Only the bytes that Parse reads are set.

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func eth(typ uint16) []byte { return binary.BigEndian.AppendUint16(make([]byte, 12), typ) }

func tag(typ uint16) []byte { return binary.BigEndian.AppendUint16([]byte{0, 5}, typ) }

func ip4(proto byte, options int, fragment uint16, payload []byte) []byte {
	h := make([]byte, 20+options, 20+options+len(payload))
	h[0], h[9] = 0x40|byte(len(h)/4), proto
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(payload)))
	binary.BigEndian.PutUint16(h[6:], fragment)
	return append(h, payload...)
}

func ip6(next byte, payload []byte) []byte {
	h := make([]byte, 40, 40+len(payload))
	h[0], h[6] = 0x60, next
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	return append(h, payload...)
}

func ext(next byte, size int, rest []byte) []byte {
	h := make([]byte, size, size+len(rest))
	h[0], h[1] = next, byte(size/8-1)
	return append(h, rest...)
}

func tcp(options, payload int) []byte {
	h := make([]byte, 20+options+payload)
	h[12] = byte((20 + options) / 4 << 4)
	return h
}

func udp(port uint16, payload []byte) []byte {
	h := make([]byte, 8, 8+len(payload))
	binary.BigEndian.PutUint16(h[2:], port)
	return append(h, payload...)
}

func gre(flags, typ uint16, payload []byte) []byte {
	h := make([]byte, 4, 16+len(payload))
	binary.BigEndian.PutUint16(h, flags)
	binary.BigEndian.PutUint16(h[2:], typ)
	for _, bit := range []uint16{GREChecksum, GREKey, GRESeq} {
		if flags&bit != 0 {
			h = append(h, 0, 0, 0, 0)
		}
	}
	return append(h, payload...)
}

var vxlanPort = &ParseOptions{VXLAN: []uint16{8472, 4789}}

type parseCase struct {
	name  string
	link  LinkType
	frame []byte
	want  Info
}

var parseCases = []parseCase{
	{"ipv4 tcp", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0x4000, tcp(12, 100))),
		Info{Net: 14, L4: 34, Payload: 66, Outer: 14, Type: 0x800, End: 166, Proto: 6, Version: 4}},
	{"ipv6 tcp", LinkEthernet, cat(eth(0x86dd), ip6(6, tcp(0, 7))),
		Info{Net: 14, L4: 54, Payload: 74, Outer: 14, Type: 0x86dd, End: 81, Proto: 6, Version: 6}},
	{"padding", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0, tcp(0, 0)), make([]byte, 6)),
		Info{Net: 14, L4: 34, Payload: 54, Outer: 14, Type: 0x800, End: 54, Proto: 6, Version: 4}},
	{"cut in the payload", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0, tcp(0, 100)))[:60],
		Info{Net: 14, L4: 34, Payload: 54, Outer: 14, Type: 0x800, End: 154, Proto: 6, Version: 4,
			Flags: FlagTruncated}},
	{"cut in the tcp header", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0, tcp(12, 0)))[:60],
		Info{Net: 14, L4: 34, Outer: 14, Type: 0x800, End: 66, Proto: 6, Version: 4,
			Flags: FlagTruncated}},
	{"vlan", LinkEthernet, cat(eth(0x8100), tag(0x800), ip4(17, 0, 0, udp(53, make([]byte, 9)))),
		Info{Net: 18, L4: 38, Payload: 46, Outer: 18, Type: 0x800, End: 55, Proto: 17, Version: 4,
			Tags: 1}},
	{"qinq", LinkEthernet, cat(eth(0x88a8), tag(0x8100), tag(0x86dd), ip6(58, make([]byte, 8))),
		Info{Net: 22, L4: 62, Payload: 70, Outer: 22, Type: 0x86dd, End: 70, Proto: 58,
			Version: 6, Tags: 2}},
	{"options", LinkEthernet, cat(eth(0x800), ip4(6, 40, 0, tcp(0, 1))),
		Info{Net: 14, L4: 74, Payload: 94, Outer: 14, Type: 0x800, End: 95, Proto: 6, Version: 4,
			Flags: FlagOptions}},
	{"first fragment", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0x2000, tcp(0, 1))),
		Info{Net: 14, L4: 34, Payload: 54, Outer: 14, Type: 0x800, End: 55, Proto: 6, Version: 4,
			Flags: FlagFragment}},
	{"udp", LinkEthernet, cat(eth(0x800), ip4(17, 0, 0, udp(53, make([]byte, 60)))),
		Info{Net: 14, L4: 34, Payload: 42, Outer: 14, Type: 0x800, End: 102, Proto: 17,
			Version: 4}},
	{"later fragment", LinkEthernet, cat(eth(0x800), ip4(6, 0, 0x20b9, tcp(0, 1))),
		Info{Net: 14, Outer: 14, Type: 0x800, End: 55, Proto: 6, Version: 4,
			Flags: FlagFragment | FlagLater}},
	{"ipv6 extensions", LinkEthernet,
		cat(eth(0x86dd), ip6(0, ext(43, 8, ext(60, 24, ext(6, 8, tcp(0, 1)))))),
		Info{Net: 14, L4: 94, Payload: 114, Outer: 14, Type: 0x86dd, End: 115, Proto: 6,
			Version: 6, Flags: FlagExtensions}},
	{"ipv6 extension of 2048 bytes", LinkEthernet,
		cat(eth(0x86dd), ip6(0, ext(6, 2048, tcp(0, 1)))),
		Info{Net: 14, L4: 2102, Payload: 2122, Outer: 14, Type: 0x86dd, End: 2123, Proto: 6,
			Version: 6, Flags: FlagExtensions}},
	{"ipv6 fragment header, whole packet", LinkEthernet,
		cat(eth(0x86dd), ip6(44, ext(6, 8, tcp(0, 1)))),
		Info{Net: 14, L4: 62, Payload: 82, Outer: 14, Type: 0x86dd, End: 83, Proto: 6,
			Version: 6, Flags: FlagExtensions | FlagFragment}},
	{"ipv6 later fragment", LinkEthernet,
		cat(eth(0x86dd), ip6(44, []byte{6, 0, 5, 0xc9, 0, 0, 0, 1, 9, 9})),
		Info{Net: 14, Outer: 14, Type: 0x86dd, End: 64, Proto: 6,
			Version: 6, Flags: FlagExtensions | FlagFragment | FlagLater}},
	{"ipv6 extension cut", LinkEthernet, cat(eth(0x86dd), ip6(0, ext(6, 16, nil)))[:60],
		Info{Net: 14, Outer: 14, Type: 0x86dd, End: 70, Proto: 0, Version: 6,
			Flags: FlagExtensions | FlagTruncated}},
	{"ipip", LinkEthernet, cat(eth(0x800), ip4(4, 0, 0, ip4(6, 0, 0, tcp(0, 1)))),
		Info{Net: 34, L4: 54, Payload: 74, Outer: 14, Type: 0x800, End: 75, Proto: 6, Version: 4,
			Encap: EncapIP}},
	{"sit", LinkEthernet, cat(eth(0x800), ip4(41, 0, 0, ip6(6, tcp(0, 1)))),
		Info{Net: 34, L4: 74, Payload: 94, Outer: 14, Type: 0x800, End: 95, Proto: 6, Version: 6,
			Encap: EncapIP}},
	{"4in6", LinkEthernet, cat(eth(0x86dd), ip6(4, ip4(6, 0, 0, tcp(0, 1)))),
		Info{Net: 54, L4: 74, Payload: 94, Outer: 14, Type: 0x86dd, End: 95, Proto: 6, Version: 4,
			Encap: EncapIP}},
	{"ipip in ipip", LinkEthernet,
		cat(eth(0x800), ip4(4, 0, 0, ip4(4, 0, 0, ip4(6, 0, 0, tcp(0, 1))))),
		Info{Net: 34, L4: 54, Outer: 14, Type: 0x800, End: 95, Proto: 4, Version: 4,
			Encap: EncapIP}},
	{"gre key", LinkEthernet,
		cat(eth(0x800), ip4(47, 0, 0, gre(GREKey, 0x800, ip4(6, 0, 0, tcp(0, 1))))),
		Info{Net: 42, L4: 62, Payload: 82, Outer: 14, Tunnel: 34, Type: 0x800, End: 83, Proto: 6,
			Version: 4, Encap: EncapGRE}},
	{"gre source route", LinkEthernet,
		cat(eth(0x800), ip4(47, 0, 0, gre(GRERouting, 0x800, ip4(6, 0, 0, tcp(0, 1))))),
		Info{Net: 14, L4: 34, Outer: 14, Type: 0x800, End: 79, Proto: 47, Version: 4}},
	{"gretap", LinkEthernet, cat(eth(0x800),
		ip4(47, 0, 0, gre(0, 0x6558, cat(eth(0x8100), tag(0x86dd), ip6(6, tcp(0, 1)))))),
		Info{Net: 56, L4: 96, Payload: 116, Outer: 14, Tunnel: 34, Type: 0x800, End: 117,
			Proto: 6, Version: 6, Encap: EncapTEB}},
	{"vxlan", LinkEthernet, cat(eth(0x800), ip4(17, 0, 0, udp(4789, cat(make([]byte, 8),
		eth(0x800), ip4(6, 0, 0, tcp(0, 1)))))),
		Info{Net: 64, L4: 84, Payload: 104, Outer: 14, Tunnel: 34, Type: 0x800, End: 105,
			Proto: 6, Version: 4, Encap: EncapVXLAN}},
	{"vxlan arp", LinkEthernet, cat(eth(0x800), ip4(17, 0, 0, udp(4789, cat(make([]byte, 8),
		eth(0x806), make([]byte, 28))))),
		Info{Net: 14, L4: 34, Payload: 42, Outer: 14, Type: 0x800, End: 92, Proto: 17,
			Version: 4}},
	{"arp", LinkEthernet, cat(eth(0x806), make([]byte, 28)), Info{Type: 0x806}},
	{"ipv6 type on ipv4", LinkEthernet, cat(eth(0x86dd), ip4(6, 0, 0, tcp(0, 60))),
		Info{Type: 0x86dd}},
	{"short", LinkEthernet, make([]byte, 13), Info{Flags: FlagTruncated}},
	{"empty", LinkRaw, nil, Info{}},
	{"opaque", LinkOpaque, cat(eth(0x800), ip4(6, 0, 0, tcp(0, 1))), Info{}},
	{"raw ipv4", LinkRaw, ip4(6, 0, 0, tcp(0, 1)),
		Info{L4: 20, Payload: 40, Type: 0x800, End: 41, Proto: 6, Version: 4}},
	{"raw ipv6", LinkRaw, ip6(17, udp(4789, nil)),
		Info{L4: 40, Payload: 48, Type: 0x86dd, End: 48, Proto: 17, Version: 6}},
	{"sll", LinkSLL, cat(make([]byte, 14), []byte{8, 0}, ip4(1, 0, 0, make([]byte, 8))),
		Info{Net: 16, L4: 36, Payload: 44, Outer: 16, Type: 0x800, End: 44, Proto: 1,
			Version: 4}},
	{"sll2", LinkSLL2, cat([]byte{0x86, 0xdd}, make([]byte, 18), ip6(132, make([]byte, 12))),
		Info{Net: 20, L4: 60, Outer: 20, Type: 0x86dd, End: 72, Proto: 132, Version: 6}},
	{"ipoib", LinkIPoIB, cat([]byte{8, 0, 0, 0}, ip4(6, 0, 0, tcp(0, 1))),
		Info{Net: 4, L4: 24, Payload: 44, Outer: 4, Type: 0x800, End: 45, Proto: 6, Version: 4}},
	{"null, little endian", LinkNull, cat([]byte{30, 0, 0, 0}, ip6(6, tcp(0, 1))),
		Info{Net: 4, L4: 44, Payload: 64, Outer: 4, Type: 0x86dd, End: 65, Proto: 6, Version: 6}},
	{"null, big endian", LinkNull, cat([]byte{0, 0, 0, 2}, ip4(6, 0, 0, tcp(0, 1))),
		Info{Net: 4, L4: 24, Payload: 44, Outer: 4, Type: 0x800, End: 45, Proto: 6, Version: 4}},
}

func TestParse(t *testing.T) {
	for _, c := range parseCases {
		got := Info{Net: 9, Flags: 0xff} // what was there before must not show
		Parse(c.link, c.frame, vxlanPort, &got)
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestParseWithoutOptions: no port carries VXLAN unless somebody says so.
func TestParseWithoutOptions(t *testing.T) {
	var info Info
	frame := cat(eth(0x800), ip4(17, 0, 0, udp(4789, make([]byte, 80))))
	if Parse(LinkEthernet, frame, nil, &info); info.Encap != EncapNone || info.Payload != 42 {
		t.Errorf("got %+v, want a UDP datagram", info)
	}
}

// TestParsePlainAgrees: the short way for plain frames and the walk give the
// same answer for every bit of a header that is turned over.
func TestParsePlainAgrees(t *testing.T) {
	plainUDP := cat(eth(0x800), ip4(17, 0, 0, udp(53, make([]byte, 60))))
	for _, c := range append(parseCases[:2:2], parseCase{name: "udp", frame: plainUDP}) {
		for bit := range 8 * 74 {
			frame := bytes.Clone(c.frame)
			frame[bit/8] ^= 1 << (bit % 8)
			var plain, walked Info
			if !parsePlain(frame, nil, &plain) {
				continue
			}
			w := walk{b: frame, info: &walked}
			if w.link(LinkEthernet); int(walked.End) > len(frame) {
				walked.Flags |= FlagTruncated
			}
			if plain != walked {
				t.Errorf("%s, bit %d: plain %+v, walked %+v", c.name, bit, plain, walked)
			}
		}
	}
}

func TestParseAllocates(t *testing.T) {
	var info Info
	for _, c := range parseCases {
		n := testing.AllocsPerRun(10, func() { Parse(c.link, c.frame, vxlanPort, &info) })
		if n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range parseCases {
		f.Add(uint8(c.link), c.frame)
	}
	f.Fuzz(func(t *testing.T, link uint8, frame []byte) {
		var info Info
		Parse(LinkType(link%uint8(NumLinkTypes)), frame, vxlanPort, &info)
		last := uint16(0)
		for _, off := range []uint16{info.Outer, info.Tunnel, info.Net, info.L4, info.Payload} {
			if off == 0 {
				continue
			}
			if off < last || int(off) > len(frame) {
				t.Fatalf("offsets out of order in %d bytes: %+v", len(frame), info)
			}
			last = off
		}
		if info.Version == 0 && info.L4 != 0 || info.L4 == 0 && info.Payload != 0 {
			t.Fatalf("a layer without the one below: %+v", info)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, c := range parseCases {
		b.Run(c.name, func(b *testing.B) {
			var info Info
			for b.Loop() {
				Parse(c.link, c.frame, vxlanPort, &info)
			}
		})
	}
}

// BenchmarkParseUDP: without ports that carry VXLAN.
func BenchmarkParseUDP(b *testing.B) {
	var info Info
	frame := cat(eth(0x800), ip4(17, 0, 0, udp(53, make([]byte, 60))))
	for b.Loop() {
		Parse(LinkEthernet, frame, nil, &info)
	}
}
