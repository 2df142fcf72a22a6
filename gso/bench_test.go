package gso

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/packet"
)

// bulk is a packet of 44 segments of 1448 bytes, its payload in pieces.
func bulk(name string, piece int) (head []byte, payload [][]byte, g packet.GSO) {
	head, b, g, _ := large(named(name), 1448, 44*1448)
	for ; len(b) > piece; b = b[piece:] {
		payload = append(payload, b[:piece])
	}
	return head, append(payload, b), g
}

func TestNoAllocation(t *testing.T) {
	for _, name := range []string{"ip4", "ip6 hop-by-hop", "gre sum key", "vxlan sum"} {
		head, payload, g := bulk(name, 1448)
		bufs, sizes := buffers(44, 1600)
		n := testing.AllocsPerRun(20, func() {
			if n, err := Cut(eth, head, payload, g, bufs, sizes); n != 44 || err != nil {
				t.Fatal(n, err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// 44 segments of 1448 bytes with all checksums; target 100 ns a segment. The
// pieces are those of GRO, of 4 KiB pages, and one run of bytes.
func BenchmarkCut(b *testing.B) {
	for _, name := range []string{"ip4", "ip6", "vxlan sum"} {
		for _, piece := range []int{1448, 4096, 1 << 20} {
			b.Run(fmt.Sprintf("%s/piece=%d", name, piece), func(b *testing.B) {
				head, payload, g := bulk(name, piece)
				bufs, sizes := buffers(44, 1600)
				segs := 0
				for b.Loop() {
					n, err := Cut(eth, head, payload, g, bufs, sizes)
					if err != nil {
						b.Fatal(err)
					}
					segs += n
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(segs), "ns/seg")
			})
		}
	}
}
