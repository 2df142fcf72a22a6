package dma

import "testing"

func TestTLBGeometry(t *testing.T) {
	for _, c := range []struct{ entries, ways, sets, way int }{
		{0, 0, 16, 4}, {64, 4, 16, 4}, {1, 0, 1, 1}, {100, 3, 32, 4}, {8, 64, 1, 8},
		{-1, -1, 16, 4},
	} {
		tlb := &New(Config{Mode: Lazy, TLBEntries: c.entries, TLBWays: c.ways}).iommu.tlb
		if len(tlb.sets) != c.sets || len(tlb.sets[0].ways) != c.way {
			t.Errorf("%d entries, %d ways: %d sets of %d", c.entries, c.ways,
				len(tlb.sets), len(tlb.sets[0].ways))
		}
	}
}

// n neighbouring pages used in turn: all hits if they fit, all misses if they
// do not, for the one used next is the one used longest ago.
func TestTLBHitsAndMisses(t *testing.T) {
	for _, c := range []struct {
		pages        int
		hits, misses uint64
	}{
		{1, 9, 1}, {16, 9 * 16, 16}, {64, 9 * 64, 64}, {80, 0, 800},
	} {
		d := New(Config{Mode: Strict})
		var iovas []uint64
		for _, page := range open(t, 4096, c.pages) {
			iovas = append(iovas, mapPage(t, d, page))
		}
		for range 10 {
			for _, iova := range iovas {
				reaches(t, d, iova, 64)
			}
		}
		if s := d.Stats(); s.TLBHits != c.hits || s.TLBMisses != c.misses {
			t.Errorf("%d pages: %d hits, %d misses", c.pages, s.TLBHits, s.TLBMisses)
		}
	}
}

// A way is lost to the one used longest ago of its set, and invalidation
// takes no other address.
func TestTLBReplacement(t *testing.T) {
	d := New(Config{Mode: Strict, TLBEntries: 4, TLBWays: 4})
	var iovas []uint64
	for _, page := range open(t, 4096, 5) {
		iovas = append(iovas, mapPage(t, d, page))
	}
	misses := func(use ...int) uint64 {
		before := d.Stats().TLBMisses
		for _, i := range use {
			reaches(t, d, iovas[i], 1)
		}
		return d.Stats().TLBMisses - before
	}
	if n := misses(0, 1, 2, 3, 0); n != 4 {
		t.Errorf("%d misses, want 4", n)
	}
	if n := misses(4, 0, 2, 3, 4); n != 1 {
		t.Errorf("%d misses, want 1: the page used longest ago is 1", n)
	}
	d.Unmap(iovas[2])
	if n := misses(0, 3, 4); n != 0 {
		t.Errorf("invalidation of another page: %d misses", n)
	}
	if n := misses(2, 2); n != 2 {
		t.Errorf("%d misses of what is not mapped, want 2: it is not cached", n)
	}
}

// A range is looked up granule by granule.
func TestTLBRange(t *testing.T) {
	d := New(Config{Mode: Strict})
	iova := mapPage(t, d, open(t, 65536, 1)[0])
	reaches(t, d, iova+4000, 8192)
	if s := d.Stats(); s.TLBMisses != 3 || s.TLBHits != 0 {
		t.Errorf("%d misses, %d hits for 3 granules", s.TLBMisses, s.TLBHits)
	}
}
