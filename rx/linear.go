package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// acceptLinear builds a packet around the stride that the device wrote. Strides
// are filled in order and a frame takes one, so where the frame q.distance
// ahead will lie is known without its completion.
//
// Budget in ns, 512 bytes, Poll to Free: completion 8, strides 4, prefetch 8,
// sync 1, record and SharedInfo 10, metadata 9, Free 14, share of refill 4.
func acceptLinear(q *Queue, c *desc.CQE, w desc.OwnWord, b *packet.Batch) {
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
	i, p := q.around(pg, at.off, q.headroom, at.n, room)
	if p != nil {
		q.describe(p, c)
		b.Add(i)
	}
}

// around builds a packet around the buffer at off of a page: n bytes of frame
// from data on, the SharedInfo from room on. nil: dropped.
func (q *Queue) around(pg *pagepool.Slot, off, data, n, room uint32) (i uint32, p *packet.Packet) {
	if i = q.slab.Get(); i == 0 {
		q.noMemory()
		return 0, nil
	}
	p = q.slab.At(i)
	p.Head, p.Start, p.Data = pg.Page, off, data
	p.Linear, p.Room, p.Len = n, room, n
	p.Truesize = room + packet.SharedBytes + packet.RecordBytes
	p.HeadKind = packet.HeadPage
	pg.Given++
	clearShared(q.shared(pg.Page, off+room))
	return i, p
}

// clearShared makes the SharedInfo empty. Its fragments are not read beyond
// NumFrags, so they stay what they are.
func clearShared(s *packet.SharedInfo) {
	s.NumFrags, s.Chain = 0, 0
	s.GSO = packet.GSO{}
}

func align64(n uint32) uint32 { return (n + 63) &^ 63 }
