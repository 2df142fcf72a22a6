package dma

import (
	"math/bits"
	"sync"
)

// Default geometry of the IOTLB.
const (
	defaultTLBEntries = 64
	defaultTLBWays    = 4
)

// An iotlb keeps translations that the device has used. A set is locked for
// each look-up, walk and fill in one, and for each invalidation: a walk that
// found the entry before it was cleared has filled the set before the
// invalidation looks there. That is the handshake.
type iotlb struct {
	sets []tlbSet
	mask uint32
}

type tlbSet struct {
	mu           sync.Mutex
	hits, misses uint64
	ways         []tlbWay // last used first
	_            [16]byte // a set is a cache line
}

// A tlbWay is empty if its granule is 0, which is never mapped.
type tlbWay struct {
	pte     pte
	granule uint32
}

func (t *iotlb) init(entries, ways int) {
	entries = ceilPow2(entries, defaultTLBEntries)
	ways = min(ceilPow2(ways, defaultTLBWays), entries)
	t.sets = make([]tlbSet, entries/ways)
	t.mask = uint32(len(t.sets) - 1)
	all := make([]tlbWay, entries)
	for i := range t.sets {
		t.sets[i].ways = all[i*ways : (i+1)*ways : (i+1)*ways]
	}
}

func ceilPow2(n, standard int) int {
	if n <= 0 {
		return standard
	}
	return 1 << bits.Len(uint(n-1))
}

// translate is the translation of granule g: the cached one, which may be
// stale in Lazy, else that of the table; 0 if there is none. What is not
// mapped is not cached.
func (t *iotlb) translate(walk *words, g uint32) pte {
	s := &t.sets[g&t.mask]
	s.mu.Lock()
	e := s.look(g)
	if e != 0 {
		s.hits++
	} else {
		s.misses++
		if entry := walk.find(uint64(g) << granuleShift); entry != nil {
			e = pte(entry.Load())
		}
		if e != 0 {
			s.use(len(s.ways)-1, tlbWay{e, g})
		}
	}
	s.mu.Unlock()
	return e
}

func (s *tlbSet) look(g uint32) pte {
	if s.ways[0].granule == g {
		return s.ways[0].pte
	}
	for i := 1; i < len(s.ways); i++ {
		if w := s.ways[i]; w.granule == g {
			s.use(i, w)
			return w.pte
		}
	}
	return 0
}

// use puts w first and moves those before place i back by one.
func (s *tlbSet) use(i int, w tlbWay) {
	copy(s.ways[1:i+1], s.ways[:i])
	s.ways[0] = w
}

// invalidate forgets count granules from g on. No look-up that begins after
// it finds them here.
func (t *iotlb) invalidate(g, count uint32) {
	for ; count > 0; g, count = g+1, count-1 {
		s := &t.sets[g&t.mask]
		s.mu.Lock()
		for i := range s.ways {
			if s.ways[i].granule == g {
				s.ways[i] = tlbWay{}
			}
		}
		s.mu.Unlock()
	}
}

// invalidateAll forgets everything.
func (t *iotlb) invalidateAll() {
	for i := range t.sets {
		s := &t.sets[i]
		s.mu.Lock()
		clear(s.ways)
		s.mu.Unlock()
	}
}

func (t *iotlb) counts() (hits, misses uint64) {
	for i := range t.sets {
		s := &t.sets[i]
		s.mu.Lock()
		hits, misses = hits+s.hits, misses+s.misses
		s.mu.Unlock()
	}
	return hits, misses
}
