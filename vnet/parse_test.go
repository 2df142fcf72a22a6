package vnet

import (
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

func parse(h Header, frame []byte) (packet.GSO, error) {
	return h.Parse(header.LinkEthernet, frame)
}

func TestParse(t *testing.T) {
	type gso = packet.GSO
	const v4, v6, udp = packet.GSOTCPv4, packet.GSOTCPv6, packet.GSOUDP
	tcp := gso{Size: 1000, Segs: 2, HdrLen: 54, CSumStart: 34, CSumOffset: 16, Type: v4}
	fits := gso{CSumStart: 34, CSumOffset: 16}
	ecn := tcp
	ecn.Flags = packet.GSOECN
	tests := []struct {
		name  string
		hdr   Header
		frame []byte
		want  gso
	}{
		{"plain", hdr(0, 0, 0, 0, 0, 0), tcp4(10, 0x10, 1), gso{}},
		{"verified", hdr(DataValid, 0, 0, 0, 0, 0), tcp4(10, 0x10, 1), gso{}},
		{"not IP", hdr(0, 0, 0, 0, 0, 0), make([]byte, 60), gso{}},
		// A short last segment is no reason to refuse (facts/gro.md G 1).
		{"1000+500", hdr(1, 1, 1000, 34, 16, 54), tcp4(1500, 0x10, 1), tcp},
		{"hdr_len is not read", hdr(1, 1, 1000, 34, 16, 1054), tcp4(1500, 0x10, 1), tcp},
		{"ECN", hdr(1, 0x81, 1000, 34, 16, 54), tcp4(1500, 0x10, 1), ecn},
		{"no checksum", hdr(0, 1, 1000, 0, 0, 0), tcp4(1500, 0x10, 1), tcp},
		{"v6", hdr(1, 4, 1000, 54, 16, 74), tcp6(2001, 0x18),
			gso{Size: 1000, Segs: 3, HdrLen: 74, CSumStart: 54, CSumOffset: 16, Type: v6}},
		{"v6 hop-by-hop", hdr(1, 4, 1, 62, 16, 82), tcp6(2, 0x18, 6, 0, 1, 4, 0, 0, 0, 0),
			gso{Size: 1, Segs: 2, HdrLen: 82, CSumStart: 62, CSumOffset: 16, Type: v6}},
		{"udp", hdr(1, 5, 400, 34, 6, 42), udp4(1300, 1),
			gso{Size: 400, Segs: 4, HdrLen: 42, CSumStart: 34, CSumOffset: 6, Type: udp}},
		// What fits one segment only misses its checksum.
		{"fits", hdr(1, 1, 1000, 34, 16, 54), tcp4(1000, 0x10, 1), fits},
		{"fits, whole", hdr(0, 1, 1000, 0, 0, 54), tcp4(1000, 0x10, 1), gso{}},
		{"empty", hdr(1, 1, 1000, 34, 16, 54), tcp4(0, 0x10, 1), fits},
		{"checksum", hdr(1, 0, 0, 34, 6, 0), udp4(10, 1), gso{CSumStart: 34, CSumOffset: 6}},
		{"at the end", hdr(1, 0, 0, 34, 6, 0), udp4(0, 1), gso{CSumStart: 34, CSumOffset: 6}},
	}
	for _, tt := range tests {
		if g, err := parse(tt.hdr, tt.frame); err != nil || g != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, g, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	fragment := tcp4(3000, 0x10, 1)
	fragment[20] = 0x20
	short := tcp4(3000, 0x10, 1)
	short[46] = 0x40
	ipip := ip4(header.ProtoIPv4, tcp4(3000, 0x10, 1)[14:], 1)
	tests := []struct {
		name  string
		hdr   Header
		frame []byte
		want  string
	}{
		{"UFO", hdr(1, GSOUFO, 400, 34, 6, 42), udp4(1300, 1), "gso_type is 0x3"},
		{"UDP with ECN", hdr(1, 0x85, 400, 34, 6, 42), udp4(1300, 1), "gso_type is 0x85"},
		{"unknown type", hdr(1, 2, 400, 34, 6, 42), udp4(1300, 1), "gso_type is 0x2"},
		{"ECN alone", hdr(1, 0x80, 400, 34, 6, 42), udp4(1300, 1), "gso_type is 0x80"},
		{"size 0", hdr(1, 1, 0, 34, 16, 54), tcp4(3000, 0x10, 1), "gso_size is 0"},
		{"size by frags", hdr(1, 1, 0xffff, 34, 16, 54), tcp4(3000, 0x10, 1), "gso_size is 65535"},
		{"v6 on v4", hdr(1, 4, 1000, 34, 16, 54), tcp4(3000, 0x10, 1), "gso_type is 0x4"},
		{"v4 on v6", hdr(1, 1, 1000, 54, 16, 74), tcp6(3000, 0x10), "gso_type is 0x1"},
		{"UDP on TCP", hdr(1, 5, 1000, 34, 6, 42), tcp4(3000, 0x10, 1), "gso_type is 0x5"},
		{"TCP on UDP", hdr(1, 1, 1000, 34, 16, 54), udp4(3000, 1), "gso_type is 0x1"},
		{"fragment", hdr(1, 1, 1000, 34, 16, 54), fragment, "no whole transport"},
		{"no IP", hdr(1, 1, 1000, 34, 16, 54), make([]byte, 3000), "no whole transport"},
		{"short TCP", hdr(1, 1, 1000, 34, 16, 54), short, "no whole transport"},
		{"cut off", hdr(0, 1, 1, 0, 0, 0), tcp4(3000, 0x10, 1)[:53], "no whole transport"},
		{"tunnel", hdr(1, 1, 1000, 54, 16, 74), ipip, "want 0 for a tunnel"},
		{"csum_start", hdr(1, 1, 1000, 36, 16, 54), tcp4(3000, 0x10, 1), "csum_start is 36"},
		{"csum_offset", hdr(1, 1, 1000, 34, 6, 54), tcp4(3000, 0x10, 1), "csum_offset is 6"},
		{"csum_start low", hdr(1, 0, 0, 33, 16, 0), tcp4(10, 0x10, 1), "csum_start is 33"},
		{"checksum outside", hdr(1, 0, 0, 34, 7, 0), udp4(0, 1), "ends at 43, want at most 42"},
		{"start outside", hdr(1, 0, 0, 0xffff, 0xffff, 0), udp4(0, 1), "want at most 42"},
		{"hdr_len", hdr(0, 0, 0, 0, 0, 43), udp4(0, 1), "hdr_len is 43, want at most 42"},
		// syzbot (facts/gro.md G 18).
		{"WARN", hdr(5, 4, 430, 500, 22, 0), tcp6(100, 0x10), "csum_start 500"},
		{"UDP without", hdr(0, 5, 400, 0, 0, 42), udp4(1300, 1), "flags are 0x0"},
		{"129 datagrams", hdr(1, 5, 1, 34, 6, 42), udp4(129, 1), "at most 128"},
	}
	for _, tt := range tests {
		g, err := parse(tt.hdr, tt.frame)
		if err == nil || !strings.Contains(err.Error(), tt.want) || g != (packet.GSO{}) {
			t.Errorf("%s: %+v, error %v, want %q", tt.name, g, err, tt.want)
		}
	}
}

// The lengths of the kernel's udpgso selftest (facts/gro.md C.3): payload and
// gso_size, and the segments they make. What it sends without GSO, and its
// datagrams too long for IP, never reach a segmenter.
func TestUDPLengths(t *testing.T) {
	const mss4, mss6 = 1472, 1452
	hopByHop := []byte{17, 0, 1, 4, 0, 0, 0, 0}
	tests := []struct {
		v6          bool
		ext         []byte
		bytes, size int
		segs, last  int // segs 0: refused
	}{
		{false, nil, 1, mss4, 1, 1},
		{false, nil, mss4, mss4, 1, mss4},
		{false, nil, mss4, mss4 + 1, 1, mss4},
		{false, nil, mss4 + 1, mss4, 2, 1},
		{false, nil, 2 * mss4, mss4, 2, mss4},
		{false, nil, 2*mss4 + 1, mss4, 3, 1},
		{false, nil, 44 * mss4, mss4, 44, mss4},
		{false, nil, 65507, mss4, 45, 739},
		{false, nil, 1, 1, 1, 1},
		{false, nil, 2, 1, 2, 1},
		{false, nil, 5, 2, 3, 1},
		{false, nil, 128, 1, 128, 1},
		{false, nil, 129, 1, 0, 0},
		{true, nil, mss6, mss6, 1, mss6},
		{true, nil, mss6 + 1, mss6, 2, 1},
		{true, nil, 45 * mss6, mss6, 45, mss6},
		{true, nil, 65527, mss6, 46, 187},
		{true, nil, 128, 1, 128, 1},
		{true, nil, 129, 1, 0, 0},
		{true, hopByHop, 2, 1, 2, 1},
		// All segments equal, and one byte more (facts/gro.md G 2).
		{false, nil, 4 * 1000, 1000, 4, 1000},
		{false, nil, 4*1000 + 1, 1000, 5, 1},
		// A gso_size above what the path takes is fine for a short one (G 19).
		{false, nil, 100, 1400, 1, 100},
	}
	for _, tt := range tests {
		frame, head := udp4(tt.bytes, 1), 42
		if tt.v6 {
			frame, head = ip6(header.ProtoUDP, udp(tt.bytes), tt.ext...), 62+len(tt.ext)
		}
		segs, err := cut(hdr(NeedsCSum, GSOUDP, tt.size, head-8, 6, head), frame)
		if (err != nil) != (tt.segs == 0) || len(segs) != tt.segs {
			t.Errorf("%+v: %d segments, %v", tt, len(segs), err)
			continue
		}
		for i, s := range segs {
			want := tt.size
			if i == len(segs)-1 {
				want = tt.last
			}
			if len(s) != head+want || !strings.HasSuffix(wire(s), "ok=True") {
				t.Errorf("%+v: segment %d: %d bytes, %s", tt, i, len(s), wire(s))
			}
		}
	}
}

// The segmenter takes what Parse accepts, however wild, but for the two limits
// of its own that Parse names, and leaves the frame alone.
func FuzzParse(f *testing.F) {
	f.Add([]byte{1, 1, 54, 0, 232, 3, 34, 0, 16, 0}, tcp4(2500, 0x18, 1))
	f.Add([]byte{1, 4, 74, 0, 232, 3, 54, 0, 16, 0}, tcp6(2500, 0x18))
	f.Add([]byte{1, 5, 42, 0, 144, 1, 34, 0, 6, 0}, udp4(1300, 1))
	f.Add([]byte{5, 4, 0, 0, 174, 1, 244, 1, 22, 0}, tcp6(100, 0x10))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 33, 0, 255, 255}, udp4(7, 1))
	f.Fuzz(func(t *testing.T, b, frame []byte) {
		if len(b) < 10 || len(frame) > 70000 {
			return
		}
		h := *(*Header)(b)
		g, err := parse(h, frame)
		if err != nil {
			return
		}
		before := string(frame)
		segs, err := cut(h, frame)
		if err != nil {
			if why := err.Error(); !strings.Contains(why, "routing") &&
				!strings.Contains(why, "longer") {
				t.Fatalf("%x is accepted as %+v, but: %v", h, g, err)
			}
			return
		}
		n := 0
		for _, s := range segs {
			n += len(s) - int(g.HdrLen)
		}
		if n != len(frame)-int(g.HdrLen) || string(frame) != before {
			t.Fatalf("%d bytes of payload in %+v of a frame of %d", n, g, len(frame))
		}
	})
}
