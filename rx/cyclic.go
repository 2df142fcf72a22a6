package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// acceptCyclic builds a packet around the buffer of a WQE of one segment.
func acceptCyclic(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	wqe, n, ok := q.oldest(c, w)
	if !ok {
		return
	}
	at := q.placeAt(0, wqe, n)
	pg := &q.pages[at.slot]
	room := align64(q.headroom + n)
	q.dom.SyncForCPU(pg.IOVA+uint64(at.off), room+packet.SharedBytes)
	i, p := q.around(pg, at.off, q.headroom, n, room)
	if p != nil {
		q.describe(p, c)
		b.Add(i)
	}
}

// acceptCyclicFrags builds a packet around the first buffer of a WQE; the
// frame goes on in the others, as fragments (facts/mlx5e.md 3.2).
func acceptCyclicFrags(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	wqe, n, ok := q.oldest(c, w)
	if !ok {
		return
	}
	first := &q.plan.Frags[0]
	pg, off := q.segment(wqe, 0)
	q.dom.SyncForCPU(pg.IOVA+uint64(off), uint32(first.Stride))
	linear := min(n, uint32(first.Bytes))
	i, p := q.around(pg, off, q.headroom, linear, uint32(first.Stride)-packet.SharedBytes)
	if p == nil {
		return
	}
	p.Len = n
	s := p.Shared()
	for k, left := 1, n-linear; left > 0; k++ {
		pg, off := q.segment(wqe, k)
		n := min(left, uint32(q.plan.Frags[k].Bytes))
		q.dom.SyncForCPU(pg.IOVA+uint64(off), n)
		s.Frags[k-1] = packet.Frag{Ref: pg.Page, Off: off, Len: n}
		s.NumFrags++
		pg.Given++
		p.Truesize += uint32(q.plan.Frags[k].Stride)
		left -= n
	}
	q.describe(p, c)
	b.Add(i)
}

// oldest takes the oldest WQE out of the ring: a cyclic queue completes in
// order. n is the length of its frame; false when it brings none.
func (q *Queue) oldest(c *desc.CQE, w desc.OwnWord) (wqe, n uint32, ok bool) {
	wqe = (q.counter - q.posted) & q.wqeMask
	mine := q.posted > 0 && uint32(w.WQECounter())&q.wqeMask == wqe
	if mine {
		q.posted--
	}
	if w.Opcode() != desc.OpRespSend {
		q.failed(c, w)
		return 0, 0, false
	}
	if !mine {
		q.bad()
		return 0, 0, false
	}
	n = uint32(c.ByteCount().Bytes())
	return wqe, n, q.fits(c, n)
}

// segment is where data segment k of a WQE lies.
func (q *Queue) segment(wqe uint32, k int) (*pagepool.Slot, uint32) {
	group := wqe >> q.groupShift
	at := q.layout[int(wqe&(1<<q.groupShift-1))*q.plan.NumFrags+k]
	return &q.pages[group*q.groupPages+at.page], at.off
}
