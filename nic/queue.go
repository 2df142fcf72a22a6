package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A queue is the device's side of a receive queue. The Step that entered it
// owns it.
type queue struct {
	// Hot: touched for every frame.
	rq     *desc.RQ
	dom    *dma.Domain
	out    completions
	live   bool   // state Ready
	cold   bool   // cache injection is off
	spill  bool   // a frame may run over the end of its WQE
	astray bool   // the next write goes where nothing is mapped (fault)
	taken  uint16 // WQEs taken from the driver
	limit  uint16 // its doorbell, as last loaded

	// Striding: the current WQE, and the one after it, read together: the
	// driver may link a WQE elsewhere once it is complete.
	wqe, next uint16
	stride    int // next free one
	strides   int // in a WQE
	addr      uint64

	// Cold.
	resets  uint32
	flushed bool // state Error: all WQEs are completed
	hold    int  // Steps for which completions are withheld (fault)
	count   *counters
	faults  *mishaps // nil: none
}

// fate is how a frame ends. Each has one counter.
type fate uint8

const (
	delivered   fate = iota // counted when the completion is published
	undersize               // no bytes at all
	oversize                // more bytes than a completion can report or a WQE hold
	noBuffer                // no WQE posted
	queueDown               // no queue in state Ready
	cqOverrun               // no room for its completion
	errored                 // its completion is an error
	spoilt                  // its completion is a lie (fault)
	lostInReset             // its completion was written, but the driver reset the queue
	numFates
)

// enter takes hold of the queue for a Step.
func (q *queue) enter() {
	q.rq.Enter()
	if r := q.rq.Resets(); r != q.resets {
		q.restart(r)
	}
	state := q.rq.State()
	q.live = state == desc.Ready
	if state == desc.Error {
		q.flush()
	}
}

// restart forgets the queue's place: the driver laid it out afresh.
func (q *queue) restart(resets uint32) {
	q.count.fates[lostInReset] += q.out.frames()
	q.count.resets++
	q.resets = resets
	q.out.reset()
	q.taken, q.limit, q.next, q.stride = 0, 0, 0, q.strides
	q.flushed, q.hold = false, 0
}

// leave hands over what was completed.
func (q *queue) leave(now int64) {
	before := q.out.published
	if q.hold > 0 {
		q.hold--
	} else {
		q.publish()
	}
	if q.rq.State() != desc.Reset {
		q.out.signal(before, now)
	}
	q.rq.Leave()
}

func (q *queue) publish() {
	if q.out.waiting() == 0 {
		return
	}
	if q.cold {
		mem.Fence()
	}
	q.count.fates[delivered] += q.out.publish()
}

// receive writes a frame, which is a and then b, and its completion. It takes
// the completion c with the label in it.
func (q *queue) receive(a, b []byte, c *desc.CQE, frames int) fate {
	if !q.live {
		return queueDown
	}
	if q.out.waiting() > maxPending-2 {
		q.publish()
	}
	q.astray = q.faults != nil && q.faults.hit(q.faults.Device.IOFault)
	if q.rq.Type == desc.Cyclic {
		return q.receiveCyclic(a, b, c, frames)
	}
	return q.receiveStriding(a, b, c, frames)
}

// posted says whether the driver has posted a WQE that was not taken. Nothing
// behind the doorbell is looked at.
func (q *queue) posted() bool {
	if q.taken == q.limit {
		q.limit = uint16(q.rq.Producer.Load())
	}
	if int(q.limit-q.taken) > 1<<q.rq.LogWQEs {
		q.misused()
		return false
	}
	return q.taken != q.limit
}

// misused stops the queue because its doorbell or its list makes no sense:
// more WQEs than there are, or one that is not there. So none is flushed.
func (q *queue) misused() {
	q.flushed = true
	q.stop(desc.LocalQPOp, place{})
}

// hasRoom says whether the CQ has room for a completion. If not, the driver
// sized it too small for what it posted, and the queue stops without a word.
func (q *queue) hasRoom() bool {
	if q.out.room() > 0 {
		return true
	}
	q.count.overruns++
	q.halt()
	return false
}

// complete writes the completion of a frame that lies in memory.
func (q *queue) complete(c *desc.CQE, p place, frames int) fate {
	if q.faults != nil {
		return q.faults.complete(q, c, p, frames)
	}
	q.out.add(c, p.counter, frames)
	return delivered
}

// A place is what a completion says of where its frame lies.
type place struct {
	id, counter uint16
	strides     uint16
}

// stop ends the queue with an error completion: the driver has to reset it.
// Frames that arrive before it does are dropped.
func (q *queue) stop(s desc.Syndrome, p place) {
	q.errorCQE(s, p)
	q.halt()
}

// halt takes the queue to state Error. The rest of its WQEs is flushed.
func (q *queue) halt() {
	if q.rq.Modify(desc.Ready, desc.Error) {
		q.count.stops++
	}
	q.live = false
	q.flush()
}

// errorCQE writes an error completion if there is room for it.
func (q *queue) errorCQE(s desc.Syndrome, p place) bool {
	if q.out.room() < 1 {
		return false
	}
	if q.out.waiting() > maxPending-2 {
		q.publish()
	}
	var c desc.CQE
	c.SetSyndrome(s, vendorSyndrome)
	c.SetWQEID(p.id)
	c.SetByteCount(desc.PackByteCount(p.strides, 0))
	q.out.put(&c, p.counter, desc.OpRespErr, 0)
	q.count.errors++
	if s == desc.WRFlush {
		q.count.flushes++
	}
	return true
}

// vendorSyndrome is the byte beside the syndrome of the model's errors.
const vendorSyndrome = 0x32

// flush completes all posted WQEs with an error, as far as the CQ has room;
// the rest follows in later Steps.
func (q *queue) flush() {
	for !q.flushed && q.out.room() > 0 {
		p, ok := q.remains()
		if !ok {
			q.flushed = true
			return
		}
		q.errorCQE(desc.WRFlush, p)
	}
}

// remains takes what is left of the current WQE, or else the next one.
func (q *queue) remains() (p place, ok bool) {
	if q.rq.Type == desc.Cyclic {
		if !q.posted() {
			return p, false
		}
		q.taken++
		return place{counter: q.taken - 1}, true
	}
	if !q.fetch() {
		return p, false
	}
	rest := q.strides - q.stride
	p = place{q.wqe, uint16(q.stride), uint16(rest)}
	q.stride = q.strides
	return p, true
}
