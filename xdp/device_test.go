package xdp

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A device is the other side of a send queue, as small as can be.
type device struct {
	t      testing.TB
	sq     *desc.SQ
	dom    *dma.Domain
	resets uint32
	taken  uint16
	cc     uint32
	sent   [][]byte
	wqes   []uint16 // index and length in segments of each WQE seen
	nops   int
}

// step does at most n WQEs.
func (d *device) step(n int) {
	if r := d.sq.Resets(); r != d.resets {
		d.resets, d.taken, d.cc = r, 0, 0
	}
	for ; n > 0 && d.taken != uint16(d.sq.Producer.Load()); n-- {
		c := d.sq.At(uint32(d.taken)).Control()
		blocks := uint16(c.Segments()+3) / 4
		if c.Index() != d.taken || c.Queue() != d.sq.Number || blocks == 0 {
			d.t.Fatalf("WQE at %d: index %d, queue %d, %d segments",
				d.taken, c.Index(), c.Queue(), c.Segments())
		}
		if d.taken%desc.BlocksPerFragment+blocks > desc.BlocksPerFragment {
			d.t.Errorf("WQE of %d blocks at %d crosses a fragment", blocks, d.taken)
		}
		if c.Opcode() == desc.SendNop {
			d.nops++
		} else {
			d.wqes = append(d.wqes, d.taken, uint16(c.Segments()))
			d.gather(c.Segments())
		}
		if c.Completes() {
			d.complete(d.taken, desc.OpReq)
		}
		d.taken += blocks
	}
}

func (d *device) gather(segments int) {
	frame := make([]byte, 0, 4096)
	for i := 2; i < segments; i++ {
		s := d.sq.At(uint32(d.taken) + uint32(i)/4).Data(i % 4)
		b, ok := d.dom.Reach(s.Addr(), s.ByteCount(), false)
		if !ok || len(b) == 0 {
			d.t.Fatalf("segment %d: %d bytes at %#x", i, s.ByteCount(), s.Addr())
		}
		frame = append(frame, b...)
	}
	d.sent = append(d.sent, frame)
}

func (d *device) complete(counter uint16, op desc.Opcode) {
	d.sq.CQ.At(d.cc).Publish(desc.PackOwn(counter, op, desc.FormatPlain, d.sq.CQ.Lap(d.cc)))
	d.cc++
}

// A rig is a send queue with its device and pages that count their references.
type rig struct {
	t    testing.TB
	q    *SendQueue
	dev  *device
	dom  *dma.Domain
	refs []mem.Ref
	held map[mem.Ref]int // references that the queue should hold
}

func newRig(t testing.TB, cfg SendConfig, n int) *rig {
	t.Helper()
	r := &rig{t: t, refs: pages(t, n), held: map[mem.Ref]int{}}
	r.dom = dma.New(dma.Config{Mode: dma.Bounce, Poison: true})
	for _, page := range r.refs {
		iova, err := r.dom.Map(page)
		if err != nil {
			t.Fatal(err)
		}
		page.Meta().IOVA = iova
	}
	q, err := NewSendQueue(cfg, r.dom)
	if err != nil {
		t.Fatal(err)
	}
	r.q, r.dev = q, &device{t: t, sq: q.SQ(), dom: r.dom}
	return r
}

// give takes references back and says when there are too many.
func (r *rig) give(page mem.Ref, n int32) {
	if r.held[page] -= int(n); r.held[page] < 0 {
		r.t.Errorf("page %d given back once too often", page.Page())
	}
}

// frame is a Buff of head bytes and fragments, and the bytes in it.
func (r *rig) frame(head int, frags ...int) (*Buff, []byte) {
	b := NewBuff(Traits{Limit: HeadRoom + uint32(head)})
	b.Reset(r.refs[0], 0, uint32(head), new(desc.CQE))
	for i, n := range frags {
		pages := len(r.refs) - 1 // the first has the head
		off := uint32(64 + i/pages*240)
		b.Append(packet.Frag{Ref: r.refs[1+i%pages], Off: off, Len: uint32(n)})
	}
	for i := range b.NumFrags() + 1 {
		copy(b.piece(i).Bytes(), pattern(int(b.piece(i).Len)))
	}
	return b, whole(r.t, b)
}

// send sends the frame and notes its references.
func (r *rig) send(b *Buff) bool {
	if !r.q.Send(b, r.give) {
		return false
	}
	if b.Head().Len > 0 {
		r.held[b.Head().Ref]++
	}
	for _, f := range b.Frags() {
		r.held[f.Ref]++
	}
	return true
}

// law: the queue holds what it should.
func (r *rig) law() {
	r.t.Helper()
	n := 0
	for _, refs := range r.held {
		n += refs
	}
	s := r.q.Stats()
	if r.q.InFlight() != n {
		r.t.Errorf("%d references in flight, %d were taken", r.q.InFlight(), n)
	}
	if n == 0 && s.Xmit != s.Done+s.Lost {
		r.t.Errorf("nothing in flight, but %+v", s)
	}
}
