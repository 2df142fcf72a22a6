package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/packet"
)

// acceptNonlinear copies the headers into a small head and leaves the payload
// in the pages, so that GRO can move it as fragments (facts/mlx5e.md 3.5).
func acceptNonlinear(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	at, ok := q.locateAny(c, w) // most take many strides
	if !ok {
		return
	}
	// The next frame begins where this one ends.
	if used := (at.n-1)>>(q.strideShift&31) + 1; at.index+used+q.distance < q.strides {
		q.prefetchNext(at, used)
	}
	i, p := q.small()
	if p == nil {
		return
	}
	n := q.copyHeaders(p, c, at)
	p.Len = at.n
	q.attach(p, at, n)
	segs := uint32(c.LROSegs())
	lro := q.lro && segs > 1
	if lro && !merge(p, c, segs) {
		q.free(i)
		q.bad()
		return
	}
	q.describe(p, c)
	if lro {
		q.merged(p, segs)
	}
	b.Add(i)
}

// small takes a record with a small head. nil: dropped.
func (q *Queue) small() (i uint32, p *packet.Packet) {
	if i = q.slab.Get(); i == 0 {
		q.noMemory()
		return 0, nil
	}
	if p = q.slab.At(i); !q.slab.GetSmall(p) {
		q.slab.Free(i)
		q.noMemory()
		return 0, nil
	}
	return i, p
}

// copyHeaders copies what belongs in the head of p and reports how much. Only
// what may be headers is synced, and before it is read. The first stride
// begins at a multiple of 256 in its page, so they lie in one page.
func (q *Queue) copyHeaders(p *packet.Packet, c *desc.CQE, at place) (n uint32) {
	pg := &q.pages[at.slot]
	n = min(headerStride, at.n)
	q.dom.SyncForCPU(pg.IOVA+uint64(at.off), align8(n))
	if check.On {
		check.That(q.dom.CheckRead(pg.IOVA+uint64(at.off), align8(n)), "headers read unsynced")
	}
	if q.parsed {
		n = uint32(header.Length(linkOf(c), pg.Page.Bytes(at.off, n)))
	}
	// Whole words: both buffers have room for them.
	copy(p.Head.Bytes(p.Data, packet.SmallBytes), pg.Page.Bytes(at.off, align8(n)))
	p.Linear = n
	return n
}

// attach hangs the frame behind its first skip bytes on p as fragments. A page
// gives a reference only if it holds payload. There are at most 17: 65535
// bytes from offset 3840 of a 4 KiB page end in the 17th.
func (q *Queue) attach(p *packet.Packet, at place, skip uint32) {
	s := p.Shared()
	clearShared(s)
	slot, off, left := at.slot, at.off+skip, at.n-skip
	if off >= q.pageBytes {
		slot, off = slot+1, off-q.pageBytes
	}
	for left > 0 {
		pg := &q.pages[slot]
		n := min(q.pageBytes-off, left)
		q.dom.SyncForCPU(pg.IOVA+uint64(off), n)
		s.Frags[s.NumFrags] = packet.Frag{Ref: pg.Page, Off: off, Len: n}
		s.NumFrags++
		pg.Given++
		p.Truesize += strides(n)
		slot, off, left = slot+1, 0, left-n
	}
}

// strides is the memory that n bytes of a page hold on to.
func strides(n uint32) uint32 { return (n + headerStride - 1) &^ (headerStride - 1) }

func align8(n uint32) uint32 { return (n + 7) &^ 7 }
