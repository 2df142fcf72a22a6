package dma

import (
	"math/bits"
	"sync"
)

// Numbers of facts/mlx5e.md 8.1 (iova.c).
const (
	classes      = 6 // cached sizes: 1, 2, 4, ... 32 granules
	magazineSize = 127
	trimNs       = 100e6
)

// A space hands out addresses, in granules: what the Mappers' caches take from
// and give to. The depot holds full magazines, the tree single ranges.
type space struct {
	mu     sync.Mutex
	tree   tree
	depots [classes]depot
	empty  *magazine
}

type depot struct {
	full *magazine
	n    int
}

// A magazine holds free addresses of one class.
type magazine struct {
	n        int
	granules [magazineSize]uint32
	next     *magazine
}

func (s *space) init(first, end uint32) {
	s.tree.init()
	s.tree.give(first, end-first)
}

// sized is the class of n granules, and n rounded up to the class's size.
// Beyond the classes nothing is rounded and nothing cached.
func sized(n uint32) (class int, size uint32) {
	class = bits.Len32(n - 1)
	if class < classes {
		return class, 1 << class
	}
	return class, n
}

// take cuts n granules from the tree, aligned to the power of two that holds
// them.
func (s *space) take(n uint32) (g uint32, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.take(n, 1<<bits.Len32(n-1))
}

func (s *space) give(g, n uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree.give(g, n)
}

// swapFull takes a full magazine and gives an empty one; swapEmpty takes an
// empty magazine, or nothing, and gives a full one, or nil.
func (s *space) swapFull(class int, full *magazine) *magazine {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.depots[class]
	full.next, d.full = d.full, full
	d.n++
	return s.spare()
}

func (s *space) swapEmpty(class int, empty *magazine) *magazine {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.depots[class].pop()
	if m != nil && empty != nil {
		empty.next, s.empty = s.empty, empty
	}
	return m
}

func (s *space) newMagazine() *magazine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spare()
}

// spare is an empty magazine. s.mu is held.
func (s *space) spare() *magazine {
	m := s.empty
	if m == nil {
		return new(magazine)
	}
	s.empty, m.next = m.next, nil
	return m
}

func (d *depot) pop() *magazine {
	m := d.full
	if m != nil {
		d.full, m.next = m.next, nil
		d.n--
	}
	return m
}

// spill gives what is in a magazine to the tree.
func (s *space) spill(class int, m *magazine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pour(class, m)
}

func (s *space) pour(class int, m *magazine) {
	for _, g := range m.granules[:m.n] {
		s.tree.give(g, 1<<class)
	}
	m.n = 0
}

// trim gives one magazine of each depot that holds more than keep to the tree.
func (s *space) trim(keep int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for class := range s.depots {
		if d := &s.depots[class]; d.n > keep {
			m := d.pop()
			s.pour(class, m)
			m.next, s.empty = s.empty, m
		}
	}
}

// empties gives all depots to the tree.
func (s *space) empties() {
	for s.held() > 0 {
		s.trim(0)
	}
}

// held is the number of magazines in the depots.
func (s *space) held() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for class := range s.depots {
		n += s.depots[class].n
	}
	return n
}
