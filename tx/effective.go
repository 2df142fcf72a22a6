package tx

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/desc"
)

// Effective is what a queue does, where that differs from what it was asked
// for, and why.
type Effective struct {
	Asked    Copybreak
	InForce  Copybreak
	Offloads Offload // left to the device
	Why      string  // what differs from what was asked, and how auto was decided

	Blocks      int
	StopRoom    int // blocks that are free when Post takes a packet
	BufBytes    int // of a premapped buffer
	FrameBytes  int // longest untagged frame
	SegmentsMax int // of a WQE, with its heading

	CopyMax [numWays]int // most Bytes of a Copybreak, by Way
}

// Effective is what is in force.
func (q *Queue) Effective() Effective {
	e := Effective{
		Asked: q.asked, InForce: q.copying, Offloads: q.limits.offloads,
		Why: q.why, Blocks: int(q.ring.Blocks()), StopRoom: int(q.limits.room),
		BufBytes: q.cfg.BufBytes, FrameBytes: int(q.limits.frame),
		SegmentsMax: desc.MaxSendSegments,
	}
	if q.measured != "" {
		if e.Why != "" {
			e.Why += "; "
		}
		e.Why += q.measured
	}
	for w := range numWays {
		e.CopyMax[w], _ = q.copyMax(w)
	}
	return e
}

// copyMax is the most bytes that a way takes, and what bounds it.
func (q *Queue) copyMax(w Way) (n int, bound string) {
	switch w {
	case Inline:
		return q.inlineMax()
	case Premapped:
		return q.cfg.BufBytes, "a buffer has no more; raise BufBytes (tx-copybreak-buf-size)"
	case Linearize:
		return linearBytes, "more than a page is not copied"
	}
	return 0, "mapped copies nothing"
}

// inlineMax: a WQE has 63 segments, and a packet takes an eighth of the ring at
// most, so that one that waits for room does not wait for all of it.
func (q *Queue) inlineMax() (n int, bound string) {
	segments, bound := desc.MaxSendSegments, "a WQE of 63 segments holds no more"
	if s := int(q.ring.Blocks()) / 8 * desc.SegmentsPerBlock; s < segments {
		segments = s
		bound = fmt.Sprintf("an eighth of a ring of %d blocks holds no more; raise Blocks",
			q.ring.Blocks())
	}
	return (segments-2)*desc.SegmentBytes - desc.InlineDataStart, bound
}

// SetCopybreak changes which packets are copied, and how, from the next one
// that is posted on. It is refused, and changes nothing, above the limit of the
// way. The owner calls it; with Auto it takes a few ms.
func (q *Queue) SetCopybreak(c Copybreak) error {
	if q.closed {
		return errors.New("tx: set tx-copybreak: the queue is closed")
	}
	asked, measured := c, ""
	if c.Auto {
		var err error
		if c, measured, err = q.calibrate(); err != nil {
			return fmt.Errorf("tx: measure the ways for tx-copybreak auto: %w", err)
		}
	}
	if err := q.checkCopybreak(c); err != nil {
		return err
	}
	if c.Way == Linearize {
		if err := q.linear.open(q.ring.Blocks(), q.cfg.Kind); err != nil {
			return err
		}
	}
	q.linear.on = c.Way == Linearize
	q.asked, q.copying, q.measured = asked, c, measured
	if !q.stopped && q.full() { // of pages to linearize into
		q.stop()
	}
	return nil
}

func (q *Queue) checkCopybreak(c Copybreak) error {
	if c.Way >= numWays {
		return fmt.Errorf("tx: tx-copybreak: unknown way %d", c.Way)
	}
	if most, bound := q.copyMax(c.Way); c.Bytes < 0 || c.Bytes > most {
		return fmt.Errorf("tx: tx-copybreak is %d, want 0 to %d for %v: %s",
			c.Bytes, most, c.Way, bound)
	}
	return nil
}
