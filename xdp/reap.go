package xdp

import "github.com/millrace-net/millrace/desc"

const (
	reapBudget   = 128 // completions in a poll (MLX5E_TX_CQ_POLL_BUDGET)
	consumerMask = 1<<24 - 1
)

// Reap takes completions and gives the pages of what was sent back. A queue
// that the device stopped starts over: what it had not sent is lost, and its
// pages come home.
func (q *SendQueue) Reap() {
	cq, before := q.sq.CQ, q.seen
	for range reapBudget {
		c := cq.At(q.seen)
		w := c.Own()
		if !w.ReadyIn(cq.Lap(q.seen)) {
			break
		}
		q.seen++
		q.count.CQEs++
		counter := w.WQECounter()
		known := q.known(counter)
		if known && w.Opcode() == desc.OpReq {
			q.complete(counter + 1)
			continue
		}
		if known && w.Opcode() == desc.OpReqErr && !q.broken {
			q.complete(counter) // those before it were sent
		}
		q.count.Error++
		q.broken = true
	}
	if q.seen != before {
		cq.Consumer.Ring(q.seen & consumerMask)
	}
	if q.broken || q.sq.State() == desc.Error {
		q.restart()
	}
}

// known says whether the device has a WQE that begins at counter.
func (q *SendQueue) known(counter uint16) bool {
	ahead := uint32(counter - uint16(q.cc))
	return ahead < q.rung-q.cc && q.sent[(q.cc+ahead)&q.mask()].blocks != 0
}

// complete ends the WQEs that begin before counter.
func (q *SendQueue) complete(counter uint16) {
	for end := q.cc + uint32(counter-uint16(q.cc)); int32(end-q.cc) > 0; {
		q.count.Done += q.home()
	}
}

// home gives back the pages of the oldest WQE and reports whether it was a
// frame.
func (q *SendQueue) home() uint64 {
	s := &q.sent[q.cc&q.mask()]
	q.cc += uint32(s.blocks)
	if s.give == nil {
		s.blocks = 0
		return 0
	}
	for range s.pages {
		s.give(q.pages[q.pageTail&uint32(len(q.pages)-1)], 1)
		q.pageTail++
	}
	*s = sent{}
	return 1
}

// restart takes the queue through Error and Reset to Ready (facts/mlx5e.md
// 3.10).
func (q *SendQueue) restart() {
	q.count.Recover++
	q.stop()
	q.sq.Modify(desc.Reset, desc.Ready)
}

// stop takes the ring from the device and the pages home.
func (q *SendQueue) stop() {
	q.sq.Modify(desc.Ready, desc.Error)
	q.sq.Modify(desc.Error, desc.Reset)
	for q.cc != q.pc {
		q.count.Lost += q.home()
	}
	q.pc, q.cc, q.rung, q.seen, q.broken = 0, 0, 0, 0, false
	q.sq.Reinit()
}

// Close takes the ring from the device. What it had not sent is lost; all pages
// go home. Closing twice changes nothing.
func (q *SendQueue) Close() {
	q.Reap()
	q.stop()
}

// Stats are the counts. The owner calls it.
func (q *SendQueue) Stats() SendStats { return q.count }

// InFlight is the number of references on pages that the queue holds.
func (q *SendQueue) InFlight() int { return int(q.pageHead - q.pageTail) }
