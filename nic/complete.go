package nic

import "github.com/millrace-net/millrace/desc"

// maxPending is how many completions may be written and not yet published.
const maxPending = 1024

// A pending completion lies in the ring, all but its ownership word.
type pending struct {
	word   desc.OwnWord
	frames uint16 // that reach the driver with it
}

// noWord marks a slot that the device does not publish: it holds minis, or
// nothing at all.
const noWord desc.OwnWord = 0xffffffff

// completions is the device's end of a CQ. Entries are written when a frame is
// done, and handed over together when the Step ends, so that one fence orders
// all payload before them. It never writes over an entry that the driver has
// not consumed.
type completions struct {
	cq        *desc.CQ
	written   uint32 // counter of the next entry to write
	published uint32 // counter of the next entry to publish
	used      uint32 // entries not consumed, when last looked at; an upper bound
	pend      [maxPending]pending
	run       run
	count     *counters
	faults    *mishaps // nil: the device is honest

	// Warm: once a Step.
	newest  int64 // when the newest completion was published
	fired   int64 // when the last event was raised
	watched bool  // the driver waits for an event, and the device knows
	urgent  bool  // a completion of this Step wakes at once
}

// reset starts over at counter 0, as the driver does.
func (o *completions) reset() {
	o.written, o.published, o.used = 0, 0, 0
	o.run.on, o.run.n = false, 0
	o.watched, o.urgent = false, false
}

// room is the number of entries free to be written.
func (o *completions) room() int {
	n := uint32(len(o.cq.Entries))
	if o.used+4 > n { // look again only when it matters
		o.look()
	}
	return int(n) - int(min(o.used, n))
}

// look finds out how many entries the driver has not consumed.
func (o *completions) look() { o.used = (o.written - o.cq.Consumer.Load()) & consumerMask }

// consumerMask: 24 bits of the driver's counter are significant.
const consumerMask = 1<<24 - 1

// add writes the completion of a frame, or of so many that were merged;
// compressed if it can be.
func (o *completions) add(c *desc.CQE, counter uint16, frames int) {
	if o.run.on && o.join(c, counter, frames) {
		return
	}
	o.put(c, counter, desc.OpRespSend, frames)
	o.run.start(c, counter, o.written-1)
}

// put writes a plain completion. There is room.
func (o *completions) put(c *desc.CQE, counter uint16, op desc.Opcode, frames int) {
	o.closeRun()
	o.run.on = false
	*(*[ownOffset]byte)(o.cq.At(o.written)[:]) = [ownOffset]byte(c[:])
	word := desc.PackOwn(counter, op, desc.FormatPlain, o.cq.Lap(o.written))
	o.push(pending{word: word, frames: uint16(frames)})
}

// ownOffset is where the ownership word lies.
const ownOffset = 60

// push takes one more counter of the ring.
func (o *completions) push(p pending) {
	*o.pending(o.written) = p
	o.written++
	o.used++
}

func (o *completions) pending(counter uint32) *pending { return &o.pend[counter%maxPending] }

// waiting is the number of counters written and not published.
func (o *completions) waiting() int { return int(o.written - o.published) }

// publish hands all that is written to the driver, in order, and reports the
// frames in it.
func (o *completions) publish() (frames uint64) {
	o.closeRun()
	for ; o.published != o.written; o.published++ {
		p := o.pending(o.published)
		if p.word != noWord {
			o.cq.At(o.published).Publish(p.word)
		}
		frames += uint64(p.frames)
	}
	return frames
}

// frames counts those in completions that are not published.
func (o *completions) frames() (n uint64) {
	for i := o.published; i != o.written; i++ {
		n += uint64(o.pending(i).frames)
	}
	return n
}
