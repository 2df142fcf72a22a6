package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
	"github.com/millrace-net/millrace/xdp"
)

// acceptNonlinearXDP shows the program all of the frame in fragments, behind a
// linear part that is empty (facts/mlx5e.md 3.5).
func acceptNonlinearXDP(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	at, ok := q.locateAny(c, w)
	if !ok {
		return
	}
	if used := (at.n-1)>>(q.strideShift&31) + 1; at.index+used+q.distance < q.strides {
		q.prefetchNext(at, used)
	}
	x := q.xdp
	if x.side.Given == x.slices && !q.takeSide() {
		q.noMemory()
		return
	}
	x.buff.Reset(x.side.Page, x.side.Given*sliceBytes, 0, c)
	x.owe(at)
	if v := x.run(&x.buff); v != xdp.Pass {
		q.consume(v, &x.side)
		return
	}
	// Frames of other links may have less than an Ethernet header to copy.
	if x.buff.Untouched() && linkOf(c) == header.LinkEthernet {
		q.passUntouched(at, c, b)
		return
	}
	q.passSmall(c, b)
}

// passUntouched builds the packet that it would be without a program.
func (q *Queue) passUntouched(at place, c *desc.CQE, b *packet.Batch) {
	i, p := q.small()
	if p == nil {
		return
	}
	n := q.copyHeaders(p, c, at)
	p.Len = at.n
	q.attach(p, at, n)
	q.describe(p, c)
	b.Add(i)
}

// takeSide puts a fresh page in the place of a side page whose slices are all
// taken. One that a frame did not need in the end is used for the next.
func (q *Queue) takeSide() bool {
	x := q.xdp
	q.releaseSide()
	if q.pool.Alloc(x.fresh[:]) == 0 {
		return false
	}
	ref := x.fresh[0]
	x.side = pagepool.Slot{Page: ref, IOVA: ref.Meta().IOVA}
	q.dom.SyncForCPU(x.side.IOVA, q.pageBytes)
	return true
}

// releaseSide gives the side page back, less the references of frames that
// have slices of it; the next frame takes another (facts/mlx5e.md 12, bug 54).
func (q *Queue) releaseSide() {
	x := q.xdp
	if x.side.Page != mem.None {
		q.pool.Put(x.side.Page, pagepool.Bias-int32(x.side.Given))
	}
	x.side = pagepool.Slot{Given: x.slices}
}

// passSmall builds a packet of what the program left: the headers copied into a
// small head, as without a program, and the rest as fragments. What the
// program made linear beyond that is the first of them.
func (q *Queue) passSmall(c *desc.CQE, b *packet.Batch) {
	i, p := q.small()
	if p == nil {
		return
	}
	f := &q.xdp.buff
	f.Lay()
	p.Len = uint32(f.Len())
	s := p.Shared()
	clearShared(s)
	linear := f.Head()
	n := q.pullHeaders(p, c)
	if linear.Len > n {
		linear.Off += n
		linear.Len -= n
		s.Frags[0] = linear
		s.NumFrags = 1
		q.xdp.side.Given++
		p.Truesize += sliceBytes
	} else {
		f.Cut(n - linear.Len)
	}
	p.Truesize += hang(s, f.Frags())
	q.settle()
	q.describe(p, c)
	q.annotate(p)
	b.Add(i)
}

// hang puts fragments behind those of s and reports the memory they hold on to.
func hang(s *packet.SharedInfo, frags []packet.Frag) (truesize uint32) {
	to := s.Frags[s.NumFrags:][:len(frags)]
	for i := range frags {
		to[i] = frags[i]
		truesize += strides(to[i].Len)
	}
	s.NumFrags += uint32(len(frags))
	return truesize
}

// pullHeaders copies metadata and headers into the small head of p and reports
// how many bytes of the frame those are: an Ethernet header at least, as far as
// the frame has one (facts/mlx5e.md 12, bugs 4, 55 and 56). The length is that
// of the headers that are there now, not of those that arrived, and the link
// type is the completion's: there is no packet to ask yet (bug 37).
func (q *Queue) pullHeaders(p *packet.Packet, c *desc.CQE) (n uint32) {
	f := &q.xdp.buff
	meta := f.MetaBytes()
	p.Data = max(packet.HeadRoom, meta)
	if meta > 0 {
		copy(p.Head.Bytes(p.Data-meta, meta), f.Meta())
	}
	n = min(headerStride, p.Room-p.Data, p.Len)
	head := p.Head.Bytes(p.Data, n)
	bytes := f.Front(head)
	if q.parsed {
		n = min(n, max(uint32(header.Length(linkOf(c), bytes)), xdp.MinFrame))
	}
	copy(head[:n], bytes)
	p.Linear = n
	return n
}

// acceptCyclicFragsXDP is acceptCyclicFrags with a program: the first buffer is
// the linear part.
func acceptCyclicFragsXDP(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
	wqe, n, ok := q.oldest(c, w)
	if !ok {
		return
	}
	first := &q.plan.Frags[0]
	pg, off := q.segment(wqe, 0)
	q.dom.SyncForCPU(pg.IOVA+uint64(off), uint32(first.Stride))
	linear := min(n, uint32(first.Bytes))
	x := q.xdp
	x.buff.Reset(pg.Page, off, linear, c)
	x.owe(place{slot: wqe*q.groupPages + 1, n: n - linear})
	if v := x.run(&x.buff); v != xdp.Pass {
		q.consume(v, pg)
		return
	}
	q.passHead(pg, off, c, b)
}

// passHead builds a packet around the first buffer, and of the fragments that
// the program left (facts/mlx5e.md 12, bug 3).
func (q *Queue) passHead(pg *pagepool.Slot, off uint32, c *desc.CQE, b *packet.Batch) {
	f, room := &q.xdp.buff, q.pageBytes-packet.SharedBytes
	i, p := q.around(pg, off, f.Start(), f.Head().Len, room)
	if p == nil {
		return
	}
	p.Len = uint32(f.Len())
	f.Lay()
	s := p.Shared()
	s.NumFrags = uint32(copy(s.Frags[:], f.Frags()))
	p.Truesize += s.NumFrags * q.pageBytes
	q.settle()
	q.describe(p, c)
	q.annotate(p)
	b.Add(i)
}
