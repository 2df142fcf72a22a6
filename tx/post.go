package tx

import (
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/packet"
)

// Post takes packets from the front of b, whose slab is served, and reports how
// many. Those that are left stay in b, in order: the queue is stopped until a
// Reap makes room. A packet that is refused, or that its handler marked with
// Drop, is taken, counted by its reason, and goes home. The device sees what
// was posted behind Flush.
func (q *Queue) Post(b *packet.Batch) int {
	n := b.Len()
	if n == 0 || q.stopped {
		return 0
	}
	q.from = q.source(b.Slab())
	for k := range n {
		q.post(b.Index(k))
		if q.full() {
			q.stop()
			n = k + 1
			break
		}
	}
	b.RemoveFront(n)
	q.goHome()
	return n
}

func (q *Queue) source(s *packet.Slab) *source {
	for k := range q.sources {
		if q.sources[k].slab == s {
			return &q.sources[k]
		}
	}
	panic(fmt.Sprintf("tx: post: the slab, of %d packets, is not served: call Serve first",
		s.Cap()))
}

// Flush gives all that was posted to the device: one doorbell, and one
// completion asked for (facts/mlx5e.md 7.5).
func (q *Queue) Flush() {
	if q.session.limit != 0 {
		q.closeSession()
	}
	if c := &q.count; q.ring.Flush() && c.posted > c.rung {
		c.xmitMore += c.posted - c.rung - 1
		c.rung = c.posted
	}
}

// stop leaves the rest to a later Post. The device gets what there is at once:
// nobody may come to ring.
func (q *Queue) stop() {
	q.stopped = true
	q.count.stopped++
	q.Flush()
}

// Stopped says that Post takes nothing until a Reap has made room.
func (q *Queue) Stopped() bool { return q.stopped }

// A task is what a packet asks for, as examine finds it.
type task struct {
	p     *packet.Packet
	index uint32
	sums  desc.SendCSum // that the device fills in
	soft  bool          // the device cannot do it
	frags []packet.Frag // behind the linear part

	gso    *packet.GSO // nil: it is one frame
	frames uint32      // that it is cut into
	jumbo  int         // bytes of a jumbo option in its headers
}

// post takes packet i. The queue is not full, so there is room for it.
func (q *Queue) post(i uint32) {
	p := q.from.slab.At(i)
	reason, way := packet.DropNone, q.way(p.Len)
	switch {
	case way == Mapped && q.simple(p):
		reason = q.shareMapped(i, p)
	case way == Mapped && q.scattered(p) && q.sendPieces(i, p):
	case way.copies() && q.simple(p) && q.shareCopy(i, p, nil, way):
	case way.copies() && q.scattered(p) && q.sharePieces(i, p, way):
	default:
		t := task{p: p, index: i}
		if reason = q.examine(&t); reason == packet.DropNone {
			reason = q.write(&t, way)
		}
	}
	if reason != packet.DropNone {
		p.Drop = reason
		q.count.drops[reason]++
		q.from.send(i)
	}
}

// write makes a WQE, or more, or a part of one, of a packet.
func (q *Queue) write(t *task, way Way) packet.Drop {
	switch {
	case t.soft:
		return q.cut(t)
	case t.gso != nil:
		return q.large(t)
	case q.shares(t, way):
		return q.share(t, way)
	case way == Inline:
		return q.inline(t)
	}
	return q.plain(t, way)
}

// way is how all bytes of a packet that long travel.
func (q *Queue) way(n uint32) Way {
	if uint64(n) <= uint64(q.copying.Bytes) {
		return q.copying.Way
	}
	return Mapped
}

// begin finds room for a WQE of so many segments, and writes the first two. It
// returns all bytes to the end of the fragment.
func (q *Queue) begin(op desc.SendOpcode, segments int, sums desc.SendCSum, mss uint16) []byte {
	if q.session.limit != 0 {
		q.closeSession()
	}
	ok := q.ring.Room(blocks(segments))
	if check.On && !ok {
		check.That(false, "no room for %d segments, %d blocks are free", segments, q.ring.Free())
	}
	w := q.ring.Bytes()
	q.heading(w, op, segments, sums, mss)
	return w
}

func blocks(segments int) uint32 {
	return uint32(segments+desc.SegmentsPerBlock-1) / desc.SegmentsPerBlock
}

// heading writes the first two segments of a WQE.
func (q *Queue) heading(w []byte, op desc.SendOpcode, segments int, sums desc.SendCSum,
	mss uint16) {
	(*desc.ControlSegment)(w).Set(uint16(q.ring.Producer()), op, q.number, segments)
	(*desc.EthSegment)(w[desc.SegmentBytes:]).Set(sums, mss)
}

func ethOf(w []byte) *desc.EthSegment { return (*desc.EthSegment)(w[desc.SegmentBytes:]) }

// commit ends a WQE of so many segments. The position is copied field by field:
// wider loads would wait for the stores just made, 8 ns a packet.
func (q *Queue) commit(segments int) {
	e, h := &q.wqes[q.ring.Slot(q.ring.Producer())], &q.head
	e.bytes, e.packets, e.maps = h.bytes, h.packets, h.maps
	e.held, e.bufs, e.pages = h.held, h.bufs, h.pages
	q.ring.Commit(blocks(segments))
}

// hold keeps the packet until its WQE is done.
func (q *Queue) hold(i uint32) {
	q.held[q.head.held&uint32(len(q.held)-1)] = q.from.tag | i
	q.head.held++
}

// account counts a packet that was posted, of so many bytes on the wire.
func (q *Queue) account(t *task, bytes uint32) {
	q.head.bytes += uint64(bytes)
	q.head.packets++
	q.count.posted++
	if t.sums == 0 {
		return
	}
	if t.sums&desc.SendCSumInnerL4 != 0 {
		q.count.csumInner++
	} else {
		q.count.csumPartial++
	}
}

// onWire is what a frame of n bytes counts: the device pads it.
func onWire(n uint32) uint32 { return max(n, wireMin) }
