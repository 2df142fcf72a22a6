package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

// acceptLinearXDP is acceptLinear with a program between sync and build.
//
// Budget: 15 ns above acceptLinear for a program that only passes.
func acceptLinearXDP(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	at, ok := q.locate(c, w)
	if !ok {
		return
	}
	room := align64(q.headroom + at.n)
	if q.due(at) {
		q.expect(room, c)
		q.prefetchStrides(at, at.index+q.distance)
	}
	pg := &q.pages[at.slot]
	q.dom.SyncForCPU(pg.IOVA+uint64(at.off), room+packet.SharedBytes)
	x := q.xdp
	x.buff.Reset(pg.Page, at.off, at.n, c)
	if v := x.run(&x.buff); v != xdp.Pass {
		q.consume(v, pg)
		return
	}
	q.blind = false
	data, n := x.buff.Start(), x.buff.Head().Len
	i, p := q.around(pg, at.off, data, n, align64(data+n))
	if p != nil {
		q.describe(p, c)
		q.annotate(p)
		b.Add(i)
	}
}

// acceptCyclicXDP is acceptCyclic with a program.
func acceptCyclicXDP(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	wqe, n, ok := q.oldest(c, w)
	if !ok {
		return
	}
	at := q.placeAt(0, wqe, n)
	pg := &q.pages[at.slot]
	q.dom.SyncForCPU(pg.IOVA+uint64(at.off), align64(q.headroom+n)+packet.SharedBytes)
	x := q.xdp
	x.buff.Reset(pg.Page, at.off, n, c)
	if v := x.run(&x.buff); v != xdp.Pass {
		q.consume(v, pg)
		return
	}
	data, n := x.buff.Start(), x.buff.Head().Len
	i, p := q.around(pg, at.off, data, n, align64(data+n))
	if p != nil {
		q.describe(p, c)
		q.annotate(p)
		b.Add(i)
	}
}

// annotate carries the program's metadata over. Packets whose metadata differ
// are not of one flow, so GRO leaves those with any alone.
func (q *Queue) annotate(p *packet.Packet) {
	if n := q.xdp.buff.MetaBytes(); n > 0 {
		p.Meta = uint8(n)
		p.Flags |= packet.FlagFlush
	}
}
