package dma

import (
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// Free ranges of a tree against a map of granules: never given twice, always
// aligned, joined when neighbours come back, and refused only if nothing fits.
func TestTreeAgainstModel(t *testing.T) {
	seed := testenv.Seed(t)
	const first, end = 1000, 1000 + 600
	for run := range testenv.Seeds(20) {
		rng := testenv.Rand(seed, uint64(run))
		var tr tree
		tr.init()
		tr.give(first, end-first)
		used := map[uint32]bool{}
		type piece struct{ start, n uint32 }
		var held []piece
		for range 1500 {
			if len(held) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(held))
				p := held[i]
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
				tr.give(p.start, p.n)
				for g := p.start; g < p.start+p.n; g++ {
					delete(used, g)
				}
				continue
			}
			n, align := 1+rng.Uint32N(40), uint32(1)<<rng.IntN(7)
			start, ok := tr.take(n, align)
			want, fits := highest(used, first, end, n, align)
			if ok != fits || ok && start != want {
				t.Fatalf("take %d by %d: %d, %v, want %d, %v", n, align, start, ok, want, fits)
			}
			if !ok {
				continue
			}
			held = append(held, piece{start, n})
			for g := start; g < start+n; g++ {
				used[g] = true
			}
		}
		for _, p := range held {
			tr.give(p.start, p.n)
		}
		if root := tr.nodes[tr.root]; root.start != first || root.n != end-first {
			t.Fatalf("at the end %d granules at %d in one piece", root.n, root.start)
		}
	}
}

// highest is where n aligned granules fit, by looking.
func highest(used map[uint32]bool, first, end, n, align uint32) (uint32, bool) {
	for start := (end - n) &^ (align - 1); start >= first; start -= align {
		free := true
		for g := start; g < start+n && free; g++ {
			free = !used[g]
		}
		if free {
			return start, true
		}
	}
	return 0, false
}

// The numbers of facts/mlx5e.md 8.1: two magazines of 127 a class, then the
// depot; six classes; 33 granules are not rounded and not cached.
func TestGoldenCaches(t *testing.T) {
	if magazineSize != 127 || classes != 6 || trimNs != 100e6 {
		t.Errorf("magazines of %d, %d classes, trim after %v ns", magazineSize, classes, trimNs)
	}
	for n, want := range map[uint32]uint32{
		1: 1, 2: 2, 3: 4, 5: 8, 9: 16, 17: 32, 32: 32, 33: 33, 100: 100,
	} {
		if class, size := sized(n); size != want || (class < classes) != (n <= 32) {
			t.Errorf("%d granules: class %d, %d granules", n, class, size)
		}
	}
	d := New(Config{Mode: Strict})
	m := d.NewMapper()
	var got [400]uint32
	for i := range got {
		got[i], _ = m.take(2)
	}
	for i, g := range got {
		m.give(g, 2)
		want := max(0, i-127) / 127 // the 255th sends one there
		if held := d.iommu.space.held(); held != want {
			t.Fatalf("%d addresses given back: %d magazines in the depot, want %d",
				i+1, held, want)
		}
	}
	for i := range got {
		if _, ok := m.take(2); !ok || m.count.cacheHits != uint64(i+1) {
			t.Fatalf("take %d: %d from the caches", i, m.count.cacheHits)
		}
	}
	if m.take(2); m.count.cacheMisses != 401 || d.iommu.space.held() != 0 {
		t.Errorf("%d from the tree, %d magazines left", m.count.cacheMisses, d.iommu.space.held())
	}
	big, _ := m.take(33)
	m.give(big, 33)
	if again, _ := m.take(33); again != big || big%64 != 0 || m.count.cacheHits != 400 {
		t.Errorf("33 granules at %#x, then %#x", big, again)
	}
}

// Every 100 ms the depot loses one magazine a class, while it holds more than
// there are Mappers.
func TestDepotIsTrimmed(t *testing.T) {
	d := New(Config{Mode: Strict})
	m := d.NewMapper()
	got := make([]uint32, 10*127)
	for i := range got {
		got[i], _ = m.take(1)
	}
	for _, g := range got {
		m.give(g, 1)
	}
	for i, want := range []int{7, 6, 5, 4, 3, 2, 2, 2} { // 2: d's own, and m
		now := int64(i+1) * trimNs
		d.Tick(now)
		d.Tick(now + trimNs - 1)
		if held := d.iommu.space.held(); held != want {
			t.Errorf("after %d: %d magazines, want %d", i+1, held, want)
		}
	}
}
