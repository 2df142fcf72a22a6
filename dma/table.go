package dma

import "sync/atomic"

// Three levels of 512 entries over granules of 4 KiB: 39 bits. The first
// 4 GiB stay empty, so that a small number is never an address.
const (
	levelBits = 9
	fanout    = 1 << levelBits
	firstIOVA = 1 << 32
	lastIOVA  = 1 << (granuleShift + 3*levelBits)
)

// A table holds an entry for each granule. An entry is one word, stored and
// loaded atomically: the device reads it while the driver maps. Inner nodes
// are never taken out.
type (
	table[E any]  [fanout]atomic.Pointer[middle[E]]
	middle[E any] [fanout]atomic.Pointer[leaf[E]]
	leaf[E any]   [fanout]E

	words = table[atomic.Uint64]
)

// find is the entry of iova; nil if it has no node, so is not mapped.
func (t *table[E]) find(iova uint64) *E {
	if iova >= lastIOVA {
		return nil
	}
	m := t[iova>>(granuleShift+2*levelBits)].Load()
	if m == nil {
		return nil
	}
	l := m[iova>>(granuleShift+levelBits)%fanout].Load()
	if l == nil {
		return nil
	}
	return &l[iova>>granuleShift%fanout]
}

// at is the entry of iova, with the nodes that it needs. Two goroutines may
// come to the same empty node: the first one's stays.
func (t *table[E]) at(iova uint64) *E {
	if e := t.find(iova); e != nil {
		return e
	}
	m := child(&t[iova>>(granuleShift+2*levelBits)])
	l := child(&m[iova>>(granuleShift+levelBits)%fanout])
	return &l[iova>>granuleShift%fanout]
}

func child[T any](entry *atomic.Pointer[T]) *T {
	if entry.Load() == nil {
		entry.CompareAndSwap(nil, new(T))
	}
	return entry.Load()
}
