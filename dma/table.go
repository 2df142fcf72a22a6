package dma

import "sync/atomic"

// Three levels of 512 entries over granules of 4 KiB: 39 bits. The first
// 4 GiB stay empty, so that a small number is never an address.
const (
	granule   = 1 << minPageShift
	levelBits = 9
	fanout    = 1 << levelBits
	firstIOVA = 1 << 32
	lastIOVA  = 1 << (minPageShift + 3*levelBits)
)

// A table translates granules. An entry is one word, stored and loaded
// atomically: the device reads it while the driver maps. Inner nodes are never
// taken out.
type (
	table  [fanout]atomic.Pointer[middle]
	middle [fanout]atomic.Pointer[leaf]
	leaf   [fanout]atomic.Pointer[frame]
)

// find is the frame that holds iova, or nil.
func (t *table) find(iova uint64) *frame {
	if iova >= lastIOVA {
		return nil
	}
	m := t[iova>>(minPageShift+2*levelBits)].Load()
	if m == nil {
		return nil
	}
	l := m[iova>>(minPageShift+levelBits)%fanout].Load()
	if l == nil {
		return nil
	}
	return l[iova>>minPageShift%fanout].Load()
}

// locate finds the frame that holds all n bytes at iova, and where in it.
func (t *table) locate(iova uint64, n uint32) (*frame, uint32) {
	f := t.find(iova)
	if f == nil || iova-f.iova+uint64(n) > uint64(len(f.shadow)) {
		return nil, 0
	}
	return f, uint32(iova - f.iova)
}

// set stores to, which is f or nil, in the entry of each granule of f. Two
// goroutines may come to the same empty node: the first one's stays.
func (t *table) set(f, to *frame) {
	for iova := f.iova; iova < f.iova+uint64(len(f.shadow)); iova += granule {
		m := child(&t[iova>>(minPageShift+2*levelBits)])
		l := child(&m[iova>>(minPageShift+levelBits)%fanout])
		l[iova>>minPageShift%fanout].Store(to)
	}
}

func child[T any](entry *atomic.Pointer[T]) *T {
	if entry.Load() == nil {
		entry.CompareAndSwap(nil, new(T))
	}
	return entry.Load()
}
