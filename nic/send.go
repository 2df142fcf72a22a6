package nic

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// A sender is the device's side of a send queue. The Step that entered it owns
// it.
type sender struct {
	sq     *desc.SQ
	out    completions
	live   bool   // state Ready
	absurd bool   // its doorbell makes no sense: there is nothing to flush
	taken  uint16 // blocks done; runs freely
	resets uint32
	hold   int // Steps in which the queue is not looked at (fault)
	frame  []byte
	dev    *Device
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
	s := &sender{sq: sq, dev: d, resets: sq.Resets(), frame: make([]byte, 0, desc.MaxBytes)}
	s.out.cq, s.out.count, s.out.faults = sq.CQ, &d.count, d.faults
	d.senders = append(d.senders, s)
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
		s.resets, s.taken, s.hold, s.absurd = r, 0, 0, false
		s.out.reset()
		s.dev.count.resets++
	}
	s.live = s.sq.State() == desc.Ready
}

// leave hands over what was completed.
func (s *sender) leave() {
	s.out.publish()
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
			s.absurd = true
			s.fail(desc.LocalQPOp, 0)
		} else if !s.do(limit) {
			return
		}
	}
}

// room says whether the CQ has room for a completion. If not, the driver sized
// it too small, and the queue stops without a word.
func (s *sender) room() bool {
	if s.out.waiting() > maxPending-2 {
		s.out.publish()
	}
	if s.out.room() > 0 {
		return true
	}
	if s.live {
		s.dev.count.overruns++
		s.halt()
	}
	return false
}

// do does the WQE at the front (facts/mlx5e.md 13). It reports false when the
// frame has to wait for the cable.
func (s *sender) do(limit uint16) bool {
	c := s.sq.At(uint32(s.taken)).Control()
	blocks := uint16(c.Segments()+desc.SegmentsPerBlock-1) / desc.SegmentsPerBlock
	edge := desc.BlocksPerFragment - s.taken%desc.BlocksPerFragment
	switch {
	case blocks == 0 || blocks > edge || blocks > limit-s.taken ||
		c.Index() != s.taken || c.Queue() != s.sq.Number:
		s.fail(desc.LocalQPOp, max(1, min(blocks, limit-s.taken)))
		return true
	case !s.live:
		s.fail(desc.WRFlush, blocks)
		return true
	case c.Opcode() == desc.SendFrame:
		sent, syndrome := s.send(c.Segments())
		if syndrome != 0 {
			s.fail(syndrome, blocks)
			return true
		}
		if !sent {
			return false
		}
	case c.Opcode() != desc.SendNop:
		s.fail(desc.LocalQPOp, blocks)
		return true
	}
	if c.Completes() {
		s.complete(desc.OpReq, c, 0)
	}
	s.taken += blocks
	return true
}

// send gathers the frame of the WQE at the front and sends it; 0: no error.
func (s *sender) send(segments int) (sent bool, syndrome desc.Syndrome) {
	first := uint32(s.taken)
	if segments < 3 || s.sq.At(first).Eth().InlineBytes() != 0 {
		return false, desc.LocalQPOp
	}
	if m := s.dev.faults; m != nil {
		if syndrome = m.spoilSend(); syndrome != 0 {
			return false, syndrome
		}
	}
	s.frame = s.frame[:0]
	for i := 2; i < segments; i++ {
		block := s.sq.At(first + uint32(i)/desc.SegmentsPerBlock)
		seg := block.Data(i % desc.SegmentsPerBlock)
		n := seg.ByteCount() // with InlineData it is more than any page holds
		b, ok := s.dev.dom.Reach(seg.Addr(), n, false)
		if !ok || n == 0 {
			return false, desc.LocalProt
		}
		if len(s.frame)+len(b) > desc.MaxBytes {
			return false, desc.LocalLength
		}
		s.frame = append(s.frame, b...)
	}
	f := Frame{Data: s.frame, Link: header.LinkEthernet}
	if e := s.dev.cable; e != nil && !e.Send(f) {
		return false, 0
	}
	s.dev.count.sent++
	s.dev.count.sentBytes += uint64(len(s.frame))
	return true, 0
}

// fail ends the WQE at the front, of so many blocks, in an error completion;
// the queue stops, and the driver has to reset it.
func (s *sender) fail(y desc.Syndrome, blocks uint16) {
	s.complete(desc.OpReqErr, s.sq.At(uint32(s.taken)).Control(), y)
	s.taken += blocks
	s.dev.count.sendErrors++
	s.halt()
}

func (s *sender) halt() {
	if s.sq.Modify(desc.Ready, desc.Error) {
		s.dev.count.stops++
	}
	s.live = false
}

// complete writes the completion of the WQE at the front. There is room.
func (s *sender) complete(op desc.Opcode, w *desc.ControlSegment, y desc.Syndrome) {
	var c desc.CQE
	if y != 0 {
		c.SetSyndrome(y, vendorSyndrome)
	}
	c.SetSend(w.Opcode(), s.sq.Number)
	s.out.put(&c, s.taken, op, 0)
}
