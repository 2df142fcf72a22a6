package lab

import (
	"math/rand/v2"

	"github.com/millrace-net/millrace/mem"
)

// shuffled is a source of pages in the order of a pool that has been in use. In
// the order of their addresses the processor's own prefetcher would hide the
// misses that an experiment is about.
type shuffled struct{ free []mem.Ref }

// newShuffled takes the first n pages of the region, in an order of the seed.
func newShuffled(r *mem.Region, n int, seed uint64) *shuffled {
	s := &shuffled{free: make([]mem.Ref, n)}
	for i := range s.free {
		s.free[i] = r.Ref(i)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(s.free), func(i, j int) {
		s.free[i], s.free[j] = s.free[j], s.free[i]
	})
	return s
}

// Alloc gives pages as far as they last.
func (s *shuffled) Alloc(dst []mem.Ref) int {
	n := copy(dst, s.free)
	s.free = s.free[n:]
	return n
}

// Release takes a page back.
func (s *shuffled) Release(page mem.Ref) { s.free = append(s.free, page) }
