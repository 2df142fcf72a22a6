package rx

import "github.com/millrace-net/millrace/desc"

// breaks asks for a restart. It comes once the completions that are there
// have been taken, so that none is lost.
func (q *Queue) breaks() {
	if !q.fault {
		q.fault, q.faultAt = true, q.cc
	}
}

// overdue reports that a broken queue has taken a whole ring of completions
// since: a device that never stops must not put the restart off.
func (q *Queue) overdue() bool {
	return q.fault && q.cc-q.faultAt >= uint32(len(q.cq.Entries))
}

// restart takes the queue through Error and Reset to Ready (facts/mlx5e.md
// 3.10). All pages of the ring come home; packets keep theirs.
func (q *Queue) restart() {
	q.count.recover++
	q.stop()
	q.rq.Reinit()
	q.begin()
	q.rq.Modify(desc.Reset, desc.Ready)
}

// stop takes the ring from the device and its pages home. Stopping twice
// changes nothing: a released slot is empty.
func (q *Queue) stop() {
	q.rq.Modify(desc.Ready, desc.Error)
	q.rq.Modify(desc.Error, desc.Reset)
	for group := range len(q.pages) / q.plan.GroupPages {
		q.release(uint32(group))
	}
	if q.xdp != nil {
		q.releaseSide()
	}
}

// begin is the state of a queue with nothing posted and nothing consumed.
func (q *Queue) begin() {
	q.cc, q.posted, q.counter = 0, 0, 0
	q.head, q.tail, q.current = 0, uint16(q.plan.WQEs-1), 0
	q.fault, q.session = false, session{}
	for i := range q.consumed {
		q.consumed[i] = q.strides
	}
}
