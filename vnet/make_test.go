package vnet

import (
	"bytes"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// onWire cuts one large packet into frames with good checksums.
func onWire(t *testing.T, h Header, frame []byte) [][]byte {
	t.Helper()
	segs, err := cut(h, frame)
	if err != nil {
		t.Fatal(err)
	}
	return segs
}

// merge returns header and bytes of all that comes out of a Merger.
func merge(t *testing.T, frames [][]byte) (hdrs []Header, packets [][]byte) {
	t.Helper()
	m, err := gro.NewMerger(gro.Config{UDP: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		m.Add(f)
	}
	for a := range m.Flush() {
		hdrs = append(hdrs, For(a))
		packets = append(packets, slices.Concat(append([][]byte{a.Header()}, a.Payload()...)...))
	}
	return hdrs, packets
}

// What comes out of GRO is described as Linux describes it, and parses and
// cuts back to the frames.
func TestFor(t *testing.T) {
	tcp4Frames := onWire(t, hdr(0, 1, 1000, 0, 0, 0), tcp4(2500, 0x18, 7))
	tcp6Frames := onWire(t, hdr(0, 4, 1000, 0, 0, 0), tcp6(2500, 0x18))
	udpFrames := onWire(t, hdr(1, 5, 400, 34, 6, 0), udp4(1300, 7))
	bad := bytes.Clone(tcp4Frames[0])
	bad[60] ^= 1
	tests := []struct {
		name   string
		frames [][]byte
		want   []Header
	}{
		{"tcp4", tcp4Frames, []Header{hdr(1, 1, 1000, 34, 16, 54)}},
		{"tcp6", tcp6Frames, []Header{hdr(1, 4, 1000, 54, 16, 74)}},
		{"udp", udpFrames, []Header{hdr(1, 5, 400, 34, 6, 42)}},
		{"single", tcp4Frames[:1], []Header{hdr(DataValid, 0, 0, 0, 0, 0)}},
		{"not IP", [][]byte{make([]byte, 60)}, []Header{{}}},
		// Nothing of the good one is left on the bad one (facts/gro.md G 37).
		{"bad, good", [][]byte{bad, tcp4Frames[1]}, []Header{{}, hdr(DataValid, 0, 0, 0, 0, 0)}},
	}
	for _, tt := range tests {
		hdrs, packets := merge(t, tt.frames)
		if !slices.Equal(hdrs, tt.want) {
			t.Errorf("%s: %x, want %x", tt.name, hdrs, tt.want)
			continue
		}
		var got [][]byte
		for i, p := range packets {
			got = append(got, onWire(t, hdrs[i], p)...)
		}
		if !slices.EqualFunc(got, tt.frames, bytes.Equal) {
			t.Errorf("%s: came back as %x, want %x", tt.name, got, tt.frames)
		}
	}
}

func TestFrom(t *testing.T) {
	slab, err := packet.NewSlab(1, mem.Heap)
	if err != nil {
		t.Fatal(err)
	}
	defer slab.Close()
	p := slab.At(slab.Get())
	*p = packet.Packet{}
	slab.GetSmall(p)
	g := packet.GSO{Size: 1000, Segs: 3, HdrLen: 54, CSumStart: 34, CSumOffset: 16,
		Type: packet.GSOTCPv4, Flags: packet.GSOECN}
	single := packet.GSO{CSumStart: 34, CSumOffset: 16}
	tests := []struct {
		name string
		len  uint32 // 54 of them linear
		kind packet.CSum
		gso  packet.GSO
		want Header
	}{
		{"linear, stale SharedInfo", 54, packet.CSumNone, g, Header{}},
		{"verified", 54, packet.CSumValid, g, hdr(DataValid, 0, 0, 0, 0, 0)},
		{"complete", 54, packet.CSumComplete, g, Header{}},
		{"partial", 54, packet.CSumPartial, single, hdr(NeedsCSum, 0, 0, 34, 16, 0)},
		{"merged", 2554, packet.CSumPartial, g, hdr(NeedsCSum, 0x81, 1000, 34, 16, 54)},
		{"merged by the device", 2554, packet.CSumValid, g, hdr(DataValid, 0x81, 1000, 0, 0, 54)},
		{"fragments", 2554, packet.CSumNone, packet.GSO{}, Header{}},
	}
	for _, tt := range tests {
		p.Linear, p.Len, p.CSumKind, p.Shared().GSO = 54, tt.len, tt.kind, tt.gso
		if got := From(p); got != tt.want {
			t.Errorf("%s: %x, want %x", tt.name, got, tt.want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	frame := tcp4(44*1448, 0x18, 1)
	h := hdr(1, 1, 1448, 34, 16, 54)
	var m gro.Merger
	for _, f := range onWire(t, h, frame) {
		m.Add(f)
	}
	for a := range m.Flush() {
		n := testing.AllocsPerRun(20, func() {
			if _, err := h.Parse(header.LinkEthernet, frame); err != nil || For(a) != h {
				t.Fatalf("%v, %x, want %x", err, For(a), h)
			}
		})
		if n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
