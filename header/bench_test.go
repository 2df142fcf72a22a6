package header

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var sink int

func BenchmarkLength(b *testing.B) {
	body := fill(1400)
	segment := cat(tcp(12, 0), body)
	for _, bb := range []struct {
		name  string
		frame []byte
	}{
		{"tcp4", cat(eth(TypeIPv4), ip4(ProtoTCP, 0, 0, segment))},
		{"tcp6", cat(eth(TypeIPv6), ip6(ProtoTCP, segment))},
		{"tcp6in6", cat(eth(TypeIPv6), ip6(ProtoIPv6, ip6(ProtoTCP, segment)))},
		{"udp4", cat(eth(TypeIPv4), ip4(ProtoUDP, 0, 0, udp(443, body)))},
		{"vlan", cat(eth(TypeVLAN), tag(TypeIPv4), ip4(ProtoTCP, 0, 0, segment))},
		{"gre", cat(eth(TypeIPv4), ip4(ProtoGRE, 0, 0, gre(GREKey, TypeIPv4,
			ip4(ProtoTCP, 0, 0, segment))))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			benchLength(b, slices.Repeat([][]byte{bb.frame}, 64))
		})
	}
	b.Run("mixed", func(b *testing.B) { benchLength(b, mixedFrames(b)) })
	b.Run("mixed/walk", func(b *testing.B) { benchWalk(b, mixedFrames(b)) })
}

// mixedFrames is 512 frames picked from the captures.
func mixedFrames(b *testing.B) (frames [][]byte) {
	all := captureFrames(b)
	r := rand.New(rand.NewPCG(1, 2))
	for range 512 {
		frames = append(frames, all[r.IntN(len(all))])
	}
	return frames
}

func benchLength(b *testing.B, frames [][]byte) {
	sum := 0
	for b.Loop() {
		for _, f := range frames {
			sum += Length(LinkEthernet, f)
		}
	}
	report(b, sum, len(frames))
}

// benchWalk leaves out the shortcuts.
func benchWalk(b *testing.B, frames [][]byte) {
	sum := 0
	for b.Loop() {
		for _, f := range frames {
			sum += length(LinkEthernet, f)
		}
	}
	report(b, sum, len(frames))
}

func report(b *testing.B, sum, frames int) {
	sink = sum
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*frames), "ns/pkt")
	b.ReportMetric(0, "ns/op")
}

// Plain packets cost no allocation, nor does the long way.
func TestLengthCapturesAllocate(t *testing.T) {
	frames := captureFrames(t)
	n := testing.AllocsPerRun(1, func() {
		for _, f := range frames {
			sink += Length(LinkEthernet, f)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations over %d frames", n, len(frames))
	}
}
