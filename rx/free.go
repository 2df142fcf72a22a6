package rx

import (
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// Free takes all packets of b: their references on pages go back to the pool,
// their records and small heads to the slab, with those of chained packets.
// b is empty afterwards.
func (q *Queue) Free(b *packet.Batch) {
	// Neighbours share a page as often as not: one Put for a run of them.
	var page mem.Ref
	var refs int32
	for k := range b.Len() {
		i := b.Index(k)
		p := q.slab.At(i)
		if p.HeadKind != packet.HeadPage || p.Len != p.Linear {
			q.free(i)
			continue
		}
		if p.Head != page {
			if refs > 0 {
				q.pool.Put(page, refs)
			}
			page, refs = p.Head, 0
		}
		refs++
		q.slab.Free(i)
	}
	if refs > 0 {
		q.pool.Put(page, refs)
	}
	b.Reset()
}

// free takes packet i. A head page goes last: the SharedInfo lies in it. A
// packet that is all linear has nothing hanging on it.
func (q *Queue) free(i uint32) {
	p := q.slab.At(i)
	headed := p.HeadKind == packet.HeadPage || p.HeadKind == packet.HeadSmall
	if headed && p.Len != p.Linear {
		q.freeShared(p.Shared())
	}
	if p.HeadKind == packet.HeadPage {
		q.pool.Put(p.Head, 1)
	}
	q.slab.Free(i)
}

// freeShared takes fragments and chained packets.
func (q *Queue) freeShared(s *packet.SharedInfo) {
	for _, f := range s.Frags[:s.NumFrags] {
		q.pool.Put(f.Ref, 1)
	}
	for c := s.Chain; c != 0; {
		next := q.slab.At(c).Next
		q.free(c)
		c = next
	}
}
