package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// One completion for all of a doorbell; what the device reads is its own copy
// of the page.
func TestSend(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	parts := []seg{part(100, 14), part(500, 1000), part(2000, 1)}
	r.post(part(0, 60))
	r.post(parts...)
	last := r.post(part(4000, 96))
	last.Complete()
	r.ring()
	r.arrive(patterned(part(0, 60)), patterned(parts...), patterned(part(4000, 96)))
	r.completed(last)
	if last.Index() != 3 {
		t.Errorf("WQE index %d, want 3", last.Index())
	}
	if _, _, more := r.next(); more {
		t.Error("WQEs that did not ask are completed, too")
	}
	s := r.dev.Stats()
	if s.TxPacketsPhy != 3 || s.TxBytesPhy != 60+1015+96 || s.TxErrors != 0 || s.TxCQEs != 1 {
		t.Errorf("%+v", s)
	}
}

// The worked examples of facts/mlx5e.md 14, written by hand: 60 bytes with an
// inline header of 18 (4 segments), and 5 bytes in an inline segment.
func TestSendGolden(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	frame := pattern(60)
	at := r.place(frame[18:], pageBytes)[0]
	b := r.sq.At(0)
	copy(b[:], []byte{0, 0, 0, 0x0a, 0, 0, rigNumber, 4, 0, 0, 0, 0x08})
	b[29] = 18
	copy(b[30:], frame[:18])
	b.Data(3).Set(42, 0x200, at.iova)
	b = r.sq.At(1)
	copy(b[:], []byte{0, 0, 1, 0x0a, 0, 0, rigNumber, 3, 0, 0, 0, 0x0c})
	copy(b[32:], []byte{0x80, 0, 0, 5, 1, 2, 3, 4, 5})
	r.pc = 2
	r.ring()
	r.arrive(frame, []byte{1, 2, 3, 4, 5})
	r.completed(r.sq.At(0).Control())
	r.completed(r.sq.At(1).Control())
	if s := r.dev.Stats(); s.TxInlineBytes != 18+5 {
		t.Errorf("%d inline bytes, want 23", s.TxInlineBytes)
	}
}

// Where nobody listens frames leave, too.
func TestSendUnplugged(t *testing.T) {
	r := newSendRig(t, Config{}, 0)
	for range 3 {
		c := r.write(order{segs: r.place(udp4(1000), 300)})
		r.ring()
		r.completed(c)
	}
	if s := r.dev.Stats(); s.TxPacketsPhy != 3 || s.TxBytesPhy != 3000 {
		t.Errorf("%+v", s)
	}
}

// While the cable is full nothing is lost: the WQE waits.
func TestSendWaitsForCable(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	r.post(part(0, 20))
	last := r.post(part(20, 20))
	last.Complete()
	r.ring()
	if _, _, ok := r.next(); ok {
		t.Error("completed, but only one frame fits the cable")
	}
	if s := r.dev.Stats(); s.TxPending != 1 || s.TxWQEs != 2 {
		t.Errorf("%+v", s)
	}
	r.arrive(patterned(part(0, 20)))
	r.step()
	r.arrive(patterned(part(20, 20)))
	r.completed(last)
}

// A WQE that waits belongs to the device: what the driver makes of its block,
// or of its doorbell, changes nothing; what it unmaps is gone.
func TestSendWaitsWithItsCopy(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	r.post(part(0, 20))
	r.post(part(20, 20))
	r.ring()
	*r.sq.At(1) = desc.SendBlock{}
	r.sq.Producer.Ring(1)
	r.step()
	r.sq.Producer.Ring(2)
	r.arrive(patterned(part(0, 20)))
	r.step()
	r.arrive(patterned(part(20, 20)))

	r.write(order{segs: []seg{part(0, 20)}})
	r.write(order{segs: r.place(pattern(9), pageBytes)})
	r.ring()
	r.next()
	r.take()
	r.dom.Unmap(r.iova[0])
	r.step()
	if c, w, ok := r.next(); !ok || w.Opcode() != desc.OpReqErr || c.Syndrome() != desc.LocalProt {
		t.Error("sent from memory that was unmapped")
	}
	r.arrive()
}

// The queues take turns in being first.
func TestSendFair(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	cq, err := desc.NewCQ(6, desc.CompressNone, desc.MiniCSum)
	check(t, err)
	second := &sendRig{t: t, dev: r.dev, dom: r.dom, page: r.page, iova: r.iova, far: r.far, now: 1}
	second.sq, err = desc.NewSQ(6, rigNumber, cq)
	check(t, err)
	_, err = r.dev.AddSQ(second.sq)
	check(t, err)
	second.sq.Modify(desc.Reset, desc.Ready)
	for range 10 {
		r.post(part(0, 20))
		second.post(part(0, 30))
	}
	r.sq.Producer.Ring(r.pc)
	second.ring()
	lengths := map[int]int{}
	for range 10 {
		for _, f := range r.take() {
			lengths[len(f)]++
		}
		r.step()
	}
	if lengths[20] != 5 || lengths[30] != 5 {
		t.Errorf("frames by length: %v", lengths)
	}
}

// WQEs behind the bad one are flushed; those before it are sent. A reset
// starts over.
func TestSendFlushAndReset(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	r.post(part(0, 60))
	r.post(part(0, 0))
	r.post(part(0, 61))
	r.write(order{segs: []seg{part(0, 62)}})
	r.ring()
	r.arrive(patterned(part(0, 60)))
	want := []desc.Syndrome{desc.LocalProt, desc.WRFlush, desc.WRFlush}
	for i, s := range want {
		c, w, ok := r.next()
		if !ok || c.Syndrome() != s || w.WQECounter() != uint16(1+i) {
			t.Errorf("completion %d: %v, %v", i, ok, s)
		}
	}
	r.sq.Modify(desc.Error, desc.Reset)
	before := *r.sq.CQ.At(0)
	if r.step(); *r.sq.CQ.At(0) != before {
		t.Error("the device completes in a queue that was reset")
	}
	r.reset()
	c := r.write(order{segs: []seg{part(7, 70)}})
	r.ring()
	r.arrive(patterned(part(7, 70)))
	r.completed(c)
	if s := r.dev.Stats(); s.TxErrors != 3 || s.QueueStops != 1 || s.QueueResets != 1 {
		t.Errorf("%+v", s)
	}
}

// A queue that is stopped or reset while a WQE waits for the cable flushes or
// forgets it.
func TestSendStoppedWhileWaiting(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	r.post(part(0, 20))
	c := r.post(part(20, 20))
	r.ring()
	r.sq.Modify(desc.Ready, desc.Error)
	r.step()
	e, w, ok := r.next()
	if !ok || e.Syndrome() != desc.WRFlush || w.WQECounter() != c.Index() {
		t.Error("not flushed")
	}
	r.take()
	r.reset()
	r.post(part(0, 20))
	r.post(part(20, 20))
	r.ring()
	r.reset()
	r.step()
	r.arrive(patterned(part(0, 20)))
	if s := r.dev.Stats(); s.TxLost != 1 || s.TxPending != 0 || s.TxPacketsPhy != 2 {
		t.Errorf("%+v", s)
	}
}

// A CQ that the driver does not empty stops the queue; nothing is overwritten.
func TestSendCQOverrun(t *testing.T) {
	r := newSendRig(t, Config{}, 200)
	for range 64 {
		r.write(order{segs: []seg{part(0, 60)}})
	}
	r.ring()
	r.write(order{segs: []seg{part(0, 60)}})
	r.ring()
	s := r.dev.Stats()
	if r.sq.State() != desc.Error || s.CQOverruns != 1 || s.TxPacketsPhy != 64 {
		t.Errorf("state %d, %+v", r.sq.State(), s)
	}
}

// NOPs do nothing, and count as blocks.
func TestSendNop(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	r.nop()
	c := r.write(order{segs: []seg{part(3, 33)}})
	r.ring()
	r.arrive(patterned(part(3, 33)))
	if r.completed(c); c.Index() != 1 {
		t.Errorf("WQE index %d behind a NOP", c.Index())
	}
	if s := r.dev.Stats(); s.TxNops != 1 || s.TxSends != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAddSQRefuses(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	if _, err := r.dev.AddSQ(r.sq); err == nil {
		t.Error("the same SQ twice")
	}
	if _, err := r.dev.AddSQ(nil); err == nil {
		t.Error("no SQ")
	}
}

// A WQE of every length works at every place of the ring, with NOPs in front
// of an edge, and through the wrap of the 16-bit index.
func TestSendEveryPlace(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	for r.pc < 1<<16+64 {
		if r.pc > 200 && r.pc < 1<<16-200 {
			r.nop()
			r.ring()
			continue
		}
		segs := many(1+int(r.pc)%61, 2)
		r.post(segs...)
		r.ring()
		r.arrive(patterned(segs...))
	}
}

func many(n int, bytes uint32) (list []seg) {
	for range n {
		list = append(list, part(0, bytes))
	}
	return list
}
