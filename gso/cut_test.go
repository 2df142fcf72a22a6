package gso

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

// large makes a packet of n payload bytes to be cut into segments of size.
func large(s *stack, size, n int) (head, payload []byte, g packet.GSO, segs [][]byte) {
	segs = s.segments(random(testenv.Rand(1, 1), n), size, 1000)
	g = s.gso(size, timestamps)
	head, payload = merge(segs, g, s.spoil)
	return head, payload, g, segs
}

// With too few or too short buffers, the segments reported are whole, and
// there is one for every buffer that could hold one (facts/gro.md G 38).
func TestBuffersRunOut(t *testing.T) {
	s := named("ip4")
	head, payload, g, want := large(s, 1000, 4500)
	for fit := range want {
		bufs, sizes := buffers(len(want), len(want[0]))
		few, short := bufs[:fit], append([][]byte{}, bufs...)
		short[fit] = short[fit][:len(want[fit])-1]
		for _, bufs := range [][][]byte{few, short} {
			n, err := Cut(s.link, head, [][]byte{payload}, g, bufs, sizes)
			if n != fit || !errors.Is(err, ErrBuffers) {
				t.Fatalf("%d buffers of 5: %d segments, %v", fit, n, err)
			}
			for i := range n {
				if !bytes.Equal(bufs[i][:sizes[i]], want[i]) {
					t.Errorf("segment %d of %d is not whole", i, n)
				}
			}
			if fit < len(bufs) && bufs[fit][0] != 0xa5 {
				t.Errorf("a buffer too short for segment %d was written", fit)
			}
		}
		n, err := Cut(s.link, head, [][]byte{payload}, g, bufs, sizes[:fit])
		if n != fit || !errors.Is(err, ErrBuffers) {
			t.Errorf("%d sizes: %d segments, %v", fit, n, err)
		}
	}
}

// A Segmenter goes on where it stopped.
func TestSegmenterResumes(t *testing.T) {
	head, payload, g, want := large(named("vxlan sum"), 1000, 4500)
	var s Segmenter
	if s.Next(make([]byte, 2000)) != 0 || s.Need() != 0 {
		t.Error("the zero Segmenter has something to cut")
	}
	if err := s.Start(eth, head, [][]byte{payload}, g); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if s.Left() != len(want)-i || s.Need() != len(w) {
			t.Fatalf("segment %d: %d left, needs %d", i, s.Left(), s.Need())
		}
		if n := s.Next(make([]byte, len(w)-1)); n != 0 {
			t.Fatalf("segment %d: %d bytes in a buffer that is too short", i, n)
		}
		b := make([]byte, len(w))
		if n := s.Next(b); n != len(w) || !bytes.Equal(b, w) {
			t.Fatalf("segment %d: %d bytes, %x, want %x", i, n, b, w)
		}
	}
	if s.Left() != 0 || s.Need() != 0 || s.Next(make([]byte, 2000)) != 0 {
		t.Error("something is left")
	}
}

// CWR stays on all segments where AccECN says so, else on the first.
func TestCWR(t *testing.T) {
	for flags, want := range map[packet.GSOFlags]string{
		0:                "\xd0\x50\x50\x59",
		packet.GSOECN:    "\xd0\x50\x50\x59",
		packet.GSOAccECN: "\xd0\xd0\xd0\xd9",
	} {
		head, payload, g, _ := large(named("ip4"), 1000, 3500)
		g.Flags = flags
		bufs, sizes := buffers(4, 1100)
		if _, err := Cut(eth, head, [][]byte{payload}, g, bufs, sizes); err != nil {
			t.Fatal(err)
		}
		var got []byte
		for _, b := range bufs {
			got = append(got, b[g.CSumStart+13])
		}
		if string(got) != want {
			t.Errorf("flags %#x: TCP flags % x, want % x", flags, got, want)
		}
	}
}

// The urgent pointer, window, options and reserved bits are repeated.
func TestRepeatedBytes(t *testing.T) {
	head, payload, g, segs := large(named("ip4"), 1000, 2000)
	bufs, sizes := buffers(2, 1100)
	if _, err := Cut(eth, head, [][]byte{payload}, g, bufs, sizes); err != nil {
		t.Fatal(err)
	}
	for i, b := range bufs {
		if from := g.CSumStart + 18; !bytes.Equal(b[from:g.HdrLen], segs[0][from:g.HdrLen]) {
			t.Errorf("segment %d: %x", i, b[from:g.HdrLen])
		}
	}
}

// An edit makes nonsense of a packet whose transport header is at l4.
type edit func(head []byte, g *packet.GSO, l4 int)

// Every field of packet.GSO that contradicts the packet is named.
func TestNonsense(t *testing.T) {
	tests := []struct {
		stack, want string
		edit        edit
	}{
		{"ip4", "Size is 0", func(_ []byte, g *packet.GSO, _ int) { g.Size = 0 }},
		{"ip4", "Type is 9", func(_ []byte, g *packet.GSO, _ int) { g.Type = 9 }},
		{"ip4", "Type is 2", func(_ []byte, g *packet.GSO, _ int) { g.Type = tcp6 }},
		{"ip6", "Type is 1", func(_ []byte, g *packet.GSO, _ int) { g.Type = tcp4 }},
		{"ip4", "Type is 3", func(_ []byte, g *packet.GSO, _ int) { g.Type = packet.GSOUDP }},
		{"udp4", "Type is 1", func(_ []byte, g *packet.GSO, _ int) { g.Type = tcp4 }},
		{"vxlan", "Type is 1", func(_ []byte, g *packet.GSO, _ int) { g.Flags = 0 }},
		{"ip4", "protocol 1 ", func(b []byte, _ *packet.GSO, _ int) { b[23] = 1 }}, // ICMP
		{"ip4", "HdrLen is 65000", func(_ []byte, g *packet.GSO, _ int) { g.HdrLen = 65000 }},
		{"ip4", "HdrLen is 66", func(b []byte, _ *packet.GSO, l4 int) { b[l4+12] = 0x70 }},
		{"ip4", "HdrLen", func(_ []byte, g *packet.GSO, _ int) { g.HdrLen-- }},
		{"ip4", "HdrLen 14", func(_ []byte, g *packet.GSO, _ int) { g.HdrLen = 14 }},
		{"ip4", "HdrLen 0", func(_ []byte, g *packet.GSO, _ int) { g.HdrLen = 0 }},
		{"ip4", "HdrLen", func(b []byte, _ *packet.GSO, l4 int) { b[l4+12] = 0x40 }},
		{"ip4", "HdrLen", func(b []byte, _ *packet.GSO, l4 int) { b[l4+12] = 0xf0 }},
		{"ip4", "transport header", func(b []byte, _ *packet.GSO, _ int) { b[20] = 0x20 }}, // MF
		{"ip4", "transport header", func(b []byte, _ *packet.GSO, _ int) { b[21] = 1 }},
		{"ip4", "transport header", func(b []byte, _ *packet.GSO, _ int) { b[13] = 6 }}, // ARP
		{"ip4", "transport header", func(b []byte, _ *packet.GSO, _ int) { b[14] = 0x44 }},
		{"ip4", "CSumStart is 35", func(_ []byte, g *packet.GSO, _ int) { g.CSumStart++ }},
		{"ip4", "CSumStart is 60000", func(_ []byte, g *packet.GSO, _ int) { g.CSumStart = 60000 }},
		{"ipip", "CSumStart is 34", func(_ []byte, g *packet.GSO, _ int) { g.CSumStart = 34 }},
		{"ip4", "CSumOffset is 6", func(_ []byte, g *packet.GSO, _ int) {
			g.CSumOffset = header.UDPSum
		}},
		{"ip6 routing, none left", "routing", func(b []byte, _ *packet.GSO, _ int) { b[57] = 1 }},
		{"gre sum key", "sequence", func(b []byte, _ *packet.GSO, _ int) { b[34] = 0x90 }},
		{"udp4", "at most 128 segments", func(_ []byte, g *packet.GSO, _ int) { g.Size = 20 }},
		{"ip4", "longer than 65535", func(_ []byte, g *packet.GSO, _ int) { g.Size = 65500 }},
	}
	for _, tt := range tests {
		n := 3000
		if strings.HasPrefix(tt.want, "longer") {
			n = 65530
		}
		head, payload, g := rough(named(tt.stack), n)
		tt.edit(head, &g, int(g.CSumStart))
		bufs, sizes := buffers(200, 70)
		n, err := Cut(eth, head, [][]byte{payload}, g, bufs, sizes)
		if n != 0 || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %d segments, error %v, want %q", tt.stack, n, err, tt.want)
		}
		if bufs[0][0] != 0xa5 {
			t.Errorf("%s: %s: something was written", tt.stack, tt.want)
		}
	}
}

// rough is a packet of n bytes of payload to be cut at 1000.
func rough(s *stack, n int) (head, payload []byte, g packet.GSO) {
	head, payload, g, _ = large(s, 1000, n)
	return head, payload, g
}

func TestNonsenseLink(t *testing.T) {
	plain := packet.GSO{CSumStart: 30, CSumOffset: 29}
	if _, err := Cut(eth, make([]byte, 60), nil, plain, nil, nil); err == nil {
		t.Error("a checksum outside of the packet was accepted")
	}
	if err := new(Segmenter).Start(header.LinkOpaque, make([]byte, 60), nil,
		packet.GSO{Type: tcp4, Size: 1, HdrLen: 54, CSumStart: 34, CSumOffset: 16}); err == nil {
		t.Error("a frame of unknown link type was cut")
	}
}
