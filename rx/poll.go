package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/packet"
)

// Poll takes up to budget completions, as many as b has room for, puts the
// packets they bring into b and refills the ring. It reports how many it
// handled: budget says that there may be more. The caller owns the packets
// until Free; b must be made of the queue's Slab.
//
// Poll never blocks. A refill that failed is tried again by every Poll,
// whether frames arrive or not.
func (q *Queue) Poll(b *packet.Batch, budget int) int {
	if check.On {
		check.That(b.Slab() == q.slab, "rx: batch of another slab")
	}
	q.pool.Drain()
	if q.xdp != nil {
		q.xdp.begin()
	}
	if q.plan.Linear && q.plan.Distance > 0 {
		q.prefetchFirst()
	}
	budget = min(budget, b.Room())
	before, held, posted := q.cc, b.Len(), q.posted
	n := q.harvest(q, b, budget)
	if q.xdp != nil {
		q.xdp.end()
	}
	if q.cc != before {
		q.count.completions += uint64(q.cc - before)
		q.count.delivered += uint64(b.Len() - held)
		// Before the refill: what is posted behind it brings completions.
		q.cq.Consumer.Ring(q.cc & counterMask)
	}
	if n < budget && (q.fault || q.rq.State() == desc.Error) || q.overdue() {
		q.restart()
	}
	q.refill(q, posted-q.posted)
	q.publish()
	return n
}

const counterMask = 1<<24 - 1

// harvestPlain takes completions that are never compressed.
func harvestPlain(q *Queue, b *packet.Batch, budget int) (n int) {
	cq, accept, cc := q.cq, q.accept, q.cc
	for ; n < budget; n++ {
		c := cq.At(cc)
		w := c.Own()
		if !w.ReadyIn(cq.Lap(cc)) {
			break
		}
		cc++
		q.cc = cc
		accept(q, c, w, b)
	}
	return n
}

// lose counts a frame that goes no further.
func (q *Queue) lose(reason packet.Drop) { q.count.drops[reason]++ }

// noMemory counts a frame for which no record or head is free.
func (q *Queue) noMemory() {
	q.count.buffAllocErr++
	q.lose(packet.DropNoMemory)
}

// bad counts a completion that contradicts what was posted. What else the
// device believes is unknown, so the queue restarts.
func (q *Queue) bad() {
	q.count.wqeErr++
	q.lose(packet.DropBadCQE)
	q.breaks()
}

// failed counts a completion that is not that of a frame (facts/mlx5e.md 2.6).
// A flushed WQE is not a frame.
func (q *Queue) failed(c *desc.CQE, w desc.OwnWord) {
	if op := w.Opcode(); op != desc.OpRespErr && op != desc.OpReqErr {
		q.bad()
		return
	}
	q.count.wqeErr++
	s := c.Syndrome()
	if s == desc.WRFlush {
		q.count.flushed++
	} else {
		q.lose(packet.DropErrorCQE)
	}
	if s.NeedsRecovery() {
		q.breaks()
	}
}
