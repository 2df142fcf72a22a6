package nic

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
)

// A sender is the device's side of a send queue. The Step that entered it owns
// it.
type sender struct {
	// Hot: touched for every WQE.
	sq    *desc.SQ
	dev   *Device
	count *counters
	out   completions
	easy  uint32 // completions not consumed, up to which there is room
	taken uint16 // blocks done; runs freely
	live  bool   // state Ready
	begun bool   // wqe is the one at the front; it waits for the cable
	wqe   wqe
	next  int // SendMulti: the first byte of wqe that is not sent

	// Warm.
	info   header.Info
	cut    gso.Segmenter                // SendLarge
	pieces [desc.MaxSendSegments][]byte // SendLarge: its payload, lent for a Step
	parts  int                          // of pieces
	absurd bool                         // its doorbell makes no sense: nothing to flush

	// Cold.
	resets uint32
	hold   int // Steps in which the queue is not looked at (fault)
	mute   int // Steps for which completions are withheld; below 0 until a reset (fault)
}

// AddSQ gives the device a send queue and returns its number.
func (d *Device) AddSQ(sq *desc.SQ) (index int, err error) {
	index = len(d.senders)
	if index == maxQueues {
		return 0, fmt.Errorf("nic: the device has %d send queues and takes no more", maxQueues)
	}
	if sq == nil || sq.CQ == nil {
		return 0, errors.New("nic: no SQ, or one without CQ; see desc.NewSQ")
	}
	for i, s := range d.senders {
		if s.sq == sq || s.sq.CQ == sq.CQ {
			return 0, fmt.Errorf("nic: send queue %d has this SQ or its CQ already", i)
		}
	}
	s := &sender{sq: sq, dev: d, count: &d.count, resets: sq.Resets()}
	s.out.cq, s.out.count, s.out.faults = sq.CQ, &d.count, d.faults
	s.easy = uint32(max(0, min(len(sq.CQ.Entries), maxPending)-4))
	d.senders = append(d.senders, s)
	if d.spare.Data == nil {
		d.spare.Data = make([]byte, desc.MaxBytes)
	}
	return index, nil
}

// PlugOut connects the end of a cable that sent frames leave by. While the
// cable is full the device waits with them. With nil, which is the default,
// they leave, and nobody listens.
func (d *Device) PlugOut(e *End) { d.cable = e }

// enter takes hold of the queue for a Step.
func (s *sender) enter() {
	s.sq.Enter()
	if r := s.sq.Resets(); r != s.resets {
		s.restart(r)
	}
	s.live = s.sq.State() == desc.Ready
}

// restart forgets the queue's place: the driver starts over.
func (s *sender) restart(resets uint32) {
	if s.begun {
		s.count.lostWQEs++
	}
	s.resets, s.taken, s.begun, s.absurd = resets, 0, false, false
	s.hold, s.mute = 0, 0
	s.out.reset()
	s.count.resets++
}

// leave hands over what was completed.
func (s *sender) leave(now int64) {
	before := s.out.published
	switch {
	case s.mute == 0:
		s.out.publish()
	case s.mute > 0:
		s.mute--
	}
	if s.sq.State() != desc.Reset {
		s.out.signal(before, now)
	}
	s.sq.Leave()
}

// serve does the WQEs that were posted, and flushes those of a queue in state
// Error. Nothing behind the doorbell is looked at.
func (s *sender) serve() {
	if s.hold > 0 {
		s.hold--
		return
	}
	if s.sq.State() == desc.Reset {
		return // the ring is the driver's
	}
	limit := uint16(s.sq.Producer.Load())
	for !s.absurd && s.taken != limit && s.room() {
		if int(limit-s.taken) > len(s.sq.Blocks) {
			s.nonsense()
		} else if !s.do(limit) {
			return
		}
	}
}

// nonsense stops a queue whose doorbell says more than fits it. A WQE that waits
// for the cable is lost: the ring cannot be what it was.
func (s *sender) nonsense() {
	if s.begun {
		s.count.lostWQEs++
		s.begun = false
	}
	s.count.wqes++
	s.absurd, s.wqe.blocks = true, 0
	*s.wqe.control() = *s.sq.At(uint32(s.taken)).Control()
	s.fail(desc.LocalQPOp)
}

// room says whether the CQ has room for a completion. If not, the driver sized
// it too small, and the queue stops without a word.
func (s *sender) room() bool { return s.out.used < s.easy || s.makeRoom() }

func (s *sender) makeRoom() bool {
	s.out.look()
	if s.out.waiting() >= maxPending-4 {
		if s.mute != 0 {
			return false // until they are not withheld
		}
		s.out.publish()
	}
	if s.out.room() > 0 {
		return true
	}
	if s.live {
		s.count.overruns++
		s.halt()
	}
	return false
}

// do does the WQE at the front, or goes on with it (facts/mlx5e.md 13). It
// reports false when frames of it have to wait for the cable.
func (s *sender) do(limit uint16) bool {
	var y desc.Syndrome
	if !s.begun {
		y = s.fetch(limit)
	} else {
		y = s.resume()
	}
	done := y == 0
	if done {
		switch w := &s.wqe; w.kind {
		case sendsFrame:
			done, y = s.put(w.data, w.end, w.bytes)
		case sendsMulti:
			done, y = s.sendMulti()
		case sendsLarge:
			done = s.sendLarge()
		}
	}
	switch {
	case y != 0:
		s.fail(y)
	case done:
		s.finish()
	default:
		return false
	}
	return true
}

// finish ends the WQE at the front.
func (s *sender) finish() {
	w := &s.wqe
	s.count.done[w.kind]++
	s.count.inlineBytes += uint64(w.inlined)
	s.begun = false
	if c := w.control(); c.Completes() {
		s.count.sendCQEs++
		s.out.urgent = s.out.urgent || c.Wakes()
		s.complete(desc.OpReq, 0)
	}
	s.taken += w.blocks
}

// fail ends the WQE at the front in an error completion; the queue stops, and
// the driver has to reset it.
func (s *sender) fail(y desc.Syndrome) {
	s.complete(desc.OpReqErr, y)
	s.begun = false
	s.taken += s.wqe.blocks
	s.count.sendErrors++
	s.halt()
}

func (s *sender) halt() {
	if s.sq.Modify(desc.Ready, desc.Error) {
		s.count.stops++
	}
	s.live = false
}

// complete writes the completion of the WQE at the front. There is room.
func (s *sender) complete(op desc.Opcode, y desc.Syndrome) {
	var c desc.CQE
	if y != 0 {
		c.SetSyndrome(y, vendorSyndrome)
	}
	c.SetSend(s.wqe.control().Opcode(), s.sq.Number)
	if m := s.dev.faults; m != nil {
		m.completeSend(s, &c, op)
		return
	}
	s.out.put(&c, s.taken, op, 0)
}
