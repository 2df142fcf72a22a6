package nic

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A sendRig is a send queue with one mapped page and the far end of the cable.
type sendRig struct {
	t    *testing.T
	dev  *Device
	sq   *desc.SQ
	far  *End
	page mem.Ref
	iova uint64
	pc   uint32
	seen uint32
}

func newSendRig(t *testing.T, cfg Config, cable int) *sendRig {
	t.Helper()
	region, err := mem.Open(mem.Config{Pages: 1, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { region.Close() })
	r := &sendRig{t: t, page: region.Ref(0)}
	dom := dma.New(dma.Config{Mode: dma.Bounce, Poison: true})
	for i := range r.page.Bytes(0, 4096) {
		r.page.Bytes(0, 4096)[i] = byte(i * 7)
	}
	if r.iova, err = dom.Map(r.page); err != nil {
		t.Fatal(err)
	}
	if r.dev, err = New(cfg, dom); err != nil {
		t.Fatal(err)
	}
	cq, err := desc.NewCQ(6, desc.CompressNone, desc.MiniCSum)
	if err != nil {
		t.Fatal(err)
	}
	if r.sq, err = desc.NewSQ(6, 5, cq); err != nil {
		t.Fatal(err)
	}
	if _, err = r.dev.AddSQ(r.sq); err != nil {
		t.Fatal(err)
	}
	r.sq.Modify(desc.Reset, desc.Ready)
	near, far, err := NewCable(cable)
	if err != nil {
		t.Fatal(err)
	}
	r.far = far
	r.dev.PlugOut(near)
	return r
}

// A part is one data segment.
type part struct {
	off, n uint32
}

// post writes a WQE that sends the parts of the page, without ringing.
func (r *sendRig) post(parts ...part) *desc.ControlSegment {
	c := r.sq.At(r.pc).Control()
	*r.sq.At(r.pc) = desc.SendBlock{}
	c.Set(uint16(r.pc), desc.SendFrame, 5, 2+len(parts))
	for i, p := range parts {
		at := uint32(2 + i)
		r.sq.At(r.pc+at/4).Data(int(at%4)).Set(p.n, 0x200, r.iova+uint64(p.off))
	}
	r.pc += uint32(2+len(parts)+3) / 4
	return c
}

func (r *sendRig) ring() {
	r.sq.Producer.Ring(r.pc & 0xffff)
	r.dev.Step(1)
}

// next takes one completion.
func (r *sendRig) next() (c *desc.CQE, w desc.OwnWord, ok bool) {
	c = r.sq.CQ.At(r.seen)
	if w = c.Own(); !w.ReadyIn(r.sq.CQ.Lap(r.seen)) {
		return nil, 0, false
	}
	r.seen++
	r.sq.CQ.Consumer.Ring(r.seen)
	return c, w, true
}

// arrives says that the next frame at the far end is these bytes of the page.
func (r *sendRig) arrives(parts ...part) {
	r.t.Helper()
	var want []byte
	for _, p := range parts {
		for i := range p.n {
			want = append(want, byte((p.off+i)*7))
		}
	}
	var f Frame
	if !r.far.Next(0, &f) || !bytes.Equal(f.Data, want) {
		r.t.Errorf("%d bytes arrived, want %d of %v", len(f.Data), len(want), parts)
	}
}

// One completion for all of a doorbell; what the device reads is its own copy
// of the page.
func TestSend(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	r.post(part{0, 60})
	r.post(part{100, 14}, part{500, 1000}, part{2000, 1})
	r.post(part{4000, 96}).Complete()
	r.ring()
	r.arrives(part{0, 60})
	r.arrives(part{100, 14}, part{500, 1000}, part{2000, 1})
	r.arrives(part{4000, 96})
	c, w, ok := r.next()
	if !ok || w.Opcode() != desc.OpReq || w.WQECounter() != 3 || c.Queue() != 5 ||
		c.SendOpcode() != desc.SendFrame {
		t.Errorf("completion: %v, opcode %d, counter %d", ok, w.Opcode(), w.WQECounter())
	}
	if _, _, more := r.next(); more {
		t.Error("WQEs that did not ask are completed, too")
	}
	if s := r.dev.Stats(); s.TxPacketsPhy != 3 || s.TxBytesPhy != 60+1015+96 || s.TxErrors != 0 {
		t.Errorf("%+v", s)
	}
}

// While the cable is full nothing is lost: the WQE waits.
func TestSendWaitsForCable(t *testing.T) {
	r := newSendRig(t, Config{}, 1)
	r.post(part{0, 20})
	r.post(part{20, 20}).Complete()
	r.ring()
	if _, _, ok := r.next(); ok {
		t.Error("completed, but only one frame fits the cable")
	}
	r.arrives(part{0, 20})
	r.ring()
	r.arrives(part{20, 20})
	if _, _, ok := r.next(); !ok {
		t.Error("not completed")
	}
}

// What a driver may do wrong ends in an error completion, and the rest is
// flushed (facts/mlx5e.md 13).
func TestSendErrors(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*sendRig)
		want  desc.Syndrome
	}{
		"no segments": {func(r *sendRig) { r.post(part{0, 60}).Set(0, desc.SendFrame, 5, 0) },
			desc.LocalQPOp},
		"opcode": {func(r *sendRig) { r.post(part{0, 60}).Set(0, 0x7f, 5, 3) }, desc.LocalQPOp},
		"index": {func(r *sendRig) { r.post(part{0, 60}).Set(1, desc.SendFrame, 5, 3) },
			desc.LocalQPOp},
		"queue": {func(r *sendRig) { r.post(part{0, 60}).Set(0, desc.SendFrame, 6, 3) },
			desc.LocalQPOp},
		"without data": {func(r *sendRig) { r.post().Set(0, desc.SendFrame, 5, 2) },
			desc.LocalQPOp},
		"inline header": {func(r *sendRig) { r.post(part{0, 60}); r.sq.At(0)[29] = 18 },
			desc.LocalQPOp},
		"length 0":        {func(r *sendRig) { r.post(part{0, 0}) }, desc.LocalProt},
		"end of the page": {func(r *sendRig) { r.post(part{4000, 97}) }, desc.LocalProt},
		"inline data":     {func(r *sendRig) { r.post(part{0, 1 << 31}) }, desc.LocalProt},
		"too long":        {func(r *sendRig) { r.post(many(17, 4096)...) }, desc.LocalLength},
		"over the doorbell": {func(r *sendRig) {
			r.post(many(17, 9)...)
			r.pc = 1
		}, desc.LocalQPOp},
		"doorbell too large": {func(r *sendRig) { r.post(part{0, 60}); r.pc = 65 }, desc.LocalQPOp},
		"over the edge": {func(r *sendRig) {
			for range 62 {
				r.post(part{0, 60})
			}
			r.ring()
			for r.far.Next(0, new(Frame)) {
			}
			r.post(many(17, 9)...)
		}, desc.LocalQPOp},
	} {
		r := newSendRig(t, Config{}, 64)
		c.spoil(r)
		r.ring()
		e, w, ok := r.next()
		if !ok || w.Opcode() != desc.OpReqErr || e.Syndrome() != c.want {
			t.Errorf("%s: completed %v, opcode %d, want %v", name, ok, w.Opcode(), c.want)
		}
		if r.sq.State() != desc.Error || r.far.Next(0, new(Frame)) {
			t.Errorf("%s: state %d, or a frame was sent", name, r.sq.State())
		}
		r.dev.Step(2)
		if _, w, ok = r.next(); ok && w.Opcode() != desc.OpReqErr {
			t.Errorf("%s: opcode %d in a queue that stopped", name, w.Opcode())
		}
	}
}

func many(n int, bytes uint32) (list []part) {
	for range n {
		list = append(list, part{0, bytes})
	}
	return list
}

// WQEs behind the bad one are flushed; those before it are sent. A reset
// starts over.
func TestSendFlushAndReset(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	r.post(part{0, 60})
	r.post(part{0, 0})
	r.post(part{0, 61})
	r.post(part{0, 62}).Complete()
	r.ring()
	r.arrives(part{0, 60})
	want := []desc.Syndrome{desc.LocalProt, desc.WRFlush, desc.WRFlush}
	for i, s := range want {
		c, w, ok := r.next()
		if !ok || c.Syndrome() != s || w.WQECounter() != uint16(1+i) {
			t.Errorf("completion %d: %v, %v", i, ok, s)
		}
	}
	r.sq.Modify(desc.Error, desc.Reset)
	before := *r.sq.CQ.At(0)
	if r.dev.Step(3); *r.sq.CQ.At(0) != before {
		t.Error("the device completes in a queue that was reset")
	}
	r.sq.Reinit()
	r.sq.Modify(desc.Reset, desc.Ready)
	r.pc, r.seen = 0, 0
	r.post(part{7, 70}).Complete()
	r.ring()
	r.arrives(part{7, 70})
	if _, w, ok := r.next(); !ok || w.Opcode() != desc.OpReq {
		t.Error("nothing completed behind the reset")
	}
	if s := r.dev.Stats(); s.TxErrors != 3 || s.QueueStops != 1 || s.QueueResets != 1 {
		t.Errorf("%+v", s)
	}
}

// A CQ that the driver does not empty stops the queue; nothing is overwritten.
func TestSendCQOverrun(t *testing.T) {
	r := newSendRig(t, Config{}, 200)
	for range 64 {
		r.post(part{0, 60}).Complete()
	}
	r.ring()
	r.post(part{0, 60}).Complete()
	r.ring()
	s := r.dev.Stats()
	if r.sq.State() != desc.Error || s.CQOverruns != 1 || s.TxPacketsPhy != 64 {
		t.Errorf("state %d, %+v", r.sq.State(), s)
	}
}

// NOPs do nothing, and count as blocks.
func TestSendNop(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	r.sq.At(0).Control().Set(0, desc.SendNop, 5, 1)
	r.pc = 1
	r.post(part{3, 33}).Complete()
	r.ring()
	r.arrives(part{3, 33})
	if _, w, ok := r.next(); !ok || w.WQECounter() != 1 {
		t.Error("no completion behind a NOP")
	}
}

// Errors of the device are drawn for sent frames, too.
func TestSendFault(t *testing.T) {
	r := newSendRig(t, Config{Faults: Faults{
		Device: DeviceFaults{Error: 1000, Syndrome: desc.LocalQPOp},
	}}, 8)
	r.post(part{0, 60})
	r.ring()
	if c, w, ok := r.next(); !ok || w.Opcode() != desc.OpReqErr || c.Syndrome() != desc.LocalQPOp {
		t.Error("no error")
	}
	if s := r.dev.Stats(); s.Faults.Errors != 1 || s.TxPacketsPhy != 0 {
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

// Sending allocates nothing.
func TestSendAllocatesNothing(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	var f Frame
	n := testing.AllocsPerRun(500, func() {
		r.post(part{0, 700}).Complete()
		r.ring()
		r.far.Next(0, &f)
		r.next()
	})
	if n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
