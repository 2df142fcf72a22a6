package sendring

import "github.com/millrace-net/millrace/desc"

const (
	pollBudget   = 128 // completions in a poll (MLX5E_TX_CQ_POLL_BUDGET)
	consumerMask = 1<<24 - 1
)

// Poll reads completions; behind it Next takes off what the device has done. It
// reports false when the ring is broken: the device stopped it, contradicted
// itself, or did nothing for timeoutNs although it has something to do. now is
// in ns; a timeout of 0 is none.
func (r *Ring) Poll(now, timeoutNs int64) bool {
	cq, before := r.SQ.CQ, r.seen
	for range pollBudget {
		w := cq.At(r.seen).Own()
		if !w.ReadyIn(cq.Lap(r.seen)) {
			break
		}
		r.seen++
		r.take(w)
	}
	if r.seen != before {
		r.count.CQEs += uint64(r.seen - before)
		cq.Consumer.Ring(r.seen & consumerMask)
	}
	r.watch(r.seen != before, now, timeoutNs)
	return !r.broken && r.SQ.State() != desc.Error
}

// watch breaks the ring when the device owes a completion for too long. Time
// begins with the first Poll that finds one missing: polls may be far apart.
func (r *Ring) watch(moved bool, now, timeoutNs int64) {
	switch {
	case moved || r.done == r.rung:
		r.waiting = false
	case !r.waiting:
		r.waiting, r.since = true, now
	case timeoutNs > 0 && now-r.since > timeoutNs && !r.broken:
		r.count.Timeouts++
		r.broken = true
	}
}

// take handles a completion.
func (r *Ring) take(w desc.OwnWord) {
	counter := w.WQECounter()
	ahead := uint32(counter - uint16(r.done))
	known := ahead < r.rung-r.done && r.wqes[(r.done+ahead)&r.mask] != 0
	if known && w.Opcode() == desc.OpReq {
		at := r.done + ahead
		r.done = at + uint32(r.wqes[at&r.mask]&^padding)
		return
	}
	if known && w.Opcode() == desc.OpReqErr && !r.broken {
		r.done += ahead // those before it were sent
	}
	r.count.CQEErr++
	r.broken = true
}

// Next takes the oldest WQE that the device has done off the ring, and reports
// the slot where it began.
func (r *Ring) Next() (slot uint32, ok bool) {
	for r.cc != r.done {
		slot = r.cc & r.mask
		n := r.wqes[slot]
		r.wqes[slot] = 0
		r.cc += uint32(n &^ padding)
		if n&padding == 0 {
			return slot, true
		}
	}
	return 0, false
}

// Stop takes the ring from the device, through Error to Reset (facts/mlx5e.md
// 3.10). Next then takes off all that is left, which is lost.
func (r *Ring) Stop() {
	r.SQ.Modify(desc.Ready, desc.Error)
	r.SQ.Modify(desc.Error, desc.Reset)
	r.done, r.rung = r.pc, r.pc
}

// Start begins at counter 0 again, behind Stop and all of Next.
func (r *Ring) Start() {
	r.pc, r.cc, r.done, r.rung, r.seen, r.room = 0, 0, 0, 0, 0, 0
	r.broken, r.waiting = false, false
	r.SQ.Reinit()
	r.SQ.Modify(desc.Reset, desc.Ready)
	r.count.Recover++
}
