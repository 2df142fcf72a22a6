package tx

import (
	"testing"

	"github.com/millrace-net/millrace/dma"
)

// Nothing is allocated for a packet, however it travels and whoever cuts it.
func TestNoAllocations(t *testing.T) {
	refs := pages(t, 8)
	for name, c := range benches(refs) {
		for _, mode := range []dma.Mode{dma.Passthrough, dma.Strict, dma.Lazy, dma.Bounce} {
			b := newBench(t, c.cfg, mode, 32, c.make)
			for range 50 {
				b.round(t)
			}
			if n := testing.AllocsPerRun(50, func() { b.round(t) }); n != 0 {
				t.Errorf("%s, %v: %v allocations a batch", name, mode, n)
			}
			if s := b.q.Stats(); s.Dropped != 0 {
				t.Errorf("%s: %+v", name, s)
			}
			b.close()
		}
	}
}
