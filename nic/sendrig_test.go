package nic

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A sendRig is the least driver of a send queue, and the far end of its cable.
type sendRig struct {
	t    testing.TB
	dev  *Device
	sq   *desc.SQ
	far  *End
	dom  *dma.Domain
	page []mem.Ref
	iova []uint64
	free int // byte of page memory that is written next
	pc   uint32
	seen uint32
	now  int64

	serial int // of orders made by any
}

const (
	rigPages  = 40
	pageBytes = 4096
	rigNumber = 5 // of the queue
)

func newSendRig(t testing.TB, cfg Config, cable int) *sendRig {
	return newSendRigIn(t, cfg, cable, dma.Config{Mode: dma.Bounce, Poison: true})
}

func newSendRigIn(t testing.TB, cfg Config, cable int, mode dma.Config) *sendRig {
	t.Helper()
	r := &sendRig{t: t, dom: dma.New(mode), now: 1}
	region, err := mem.Open(mem.Config{Pages: rigPages, Kind: mem.Heap})
	check(t, err)
	t.Cleanup(func() { check(t, region.Close()) })
	for i := range rigPages {
		page := region.Ref(i)
		for k := range page.Bytes(0, pageBytes) {
			page.Bytes(0, pageBytes)[k] = byte(k * 7)
		}
		iova, err := r.dom.Map(page)
		check(t, err)
		r.page, r.iova = append(r.page, page), append(r.iova, iova)
	}
	r.dev, err = New(cfg, r.dom)
	check(t, err)
	cq, err := desc.NewCQ(6, desc.CompressNone, desc.MiniCSum)
	check(t, err)
	r.sq, err = desc.NewSQ(6, rigNumber, cq)
	check(t, err)
	_, err = r.dev.AddSQ(r.sq)
	check(t, err)
	r.sq.Modify(desc.Reset, desc.Ready)
	if cable > 0 {
		near, far, err := NewCable(cable)
		check(t, err)
		r.far = far
		r.dev.PlugOut(near)
	}
	return r
}

// A seg is one data segment: n bytes of page 0, or of address, or bytes that
// lie in the WQE itself.
type seg struct {
	off, n uint32
	iova   uint64
	inline []byte
}

// part is one data segment in page 0.
func part(off, n uint32) seg { return seg{off: off, n: n} }

// place copies bytes into pages and returns the segments that name them, none
// longer than size.
func (r *sendRig) place(b []byte, size int) (list []seg) {
	for len(b) > 0 {
		page, off := r.free/pageBytes%rigPages, r.free%pageBytes
		n := min(len(b), size, pageBytes-off)
		copy(r.page[page].Bytes(uint32(off), uint32(n)), b)
		iova := r.iova[page] + uint64(off)
		r.dom.SyncForDevice(iova, uint32(n))
		list = append(list, seg{n: uint32(n), iova: iova})
		b = b[n:]
		r.free += n
	}
	return list
}

// An order is what a WQE asks for.
type order struct {
	op      desc.SendOpcode // 0: SendFrame
	sums    desc.SendCSum
	mss     uint16
	header  []byte // inline
	tag     uint16 // inserted if not 0
	service bool
	quiet   bool // no completion is asked for
	segs    []seg
}

// bytes is the WQE for the place at counter pc, without its control segment.
func (o *order) bytes(r *sendRig) []byte {
	var b [2048]byte
	eth := (*desc.EthSegment)(b[16:])
	eth.Set(o.sums, o.mss)
	n := 32
	if o.header != nil {
		eth.SetInline(len(o.header))
		copy(b[30:], o.header)
		n += 16 * desc.InlineSegments(len(o.header))
	}
	if o.tag != 0 {
		eth.InsertTag(o.tag, o.service)
	}
	for _, s := range o.segs {
		d := (*desc.DataSegment)(b[n:])
		if s.inline != nil {
			d.SetInline(len(s.inline))
			copy(b[n+desc.InlineDataStart:], s.inline)
			n += (desc.InlineDataStart + len(s.inline) + 15) &^ 15
			continue
		}
		if s.iova == 0 {
			s.iova = r.iova[0] + uint64(s.off)
		}
		d.Set(s.n, 0x200, s.iova)
		n += 16
	}
	return b[:n]
}

// write posts a WQE, without ringing; with NOPs in front where it would cross
// the edge of a fragment.
func (r *sendRig) write(o order) *desc.ControlSegment {
	r.t.Helper()
	b := o.bytes(r)
	blocks := uint32(len(b)+63) / 64
	for r.pc%desc.BlocksPerFragment+blocks > desc.BlocksPerFragment {
		r.nop()
	}
	if o.op == 0 {
		o.op = desc.SendFrame
	}
	copy(r.sq.Fragment(r.pc), b)
	c := r.sq.At(r.pc).Control()
	c.Set(uint16(r.pc), o.op, rigNumber, len(b)/16)
	if !o.quiet {
		c.Complete()
	}
	r.pc += blocks
	return c
}

// post writes a WQE that sends the segments, and asks for nothing.
func (r *sendRig) post(segs ...seg) *desc.ControlSegment {
	return r.write(order{segs: segs, quiet: true})
}

func (r *sendRig) nop() {
	r.sq.At(r.pc).Control().Set(uint16(r.pc), desc.SendNop, rigNumber, 1)
	r.pc++
}

func (r *sendRig) ring() {
	r.sq.Producer.Ring(r.pc & 0xffff)
	r.step()
}

// step is a Step of the device, and the law of its books.
func (r *sendRig) step() {
	r.t.Helper()
	r.dev.Step(r.now)
	if s := r.dev.Stats(); s.TxUnaccounted() != 0 {
		r.t.Errorf("%d WQEs or frames are in no counter, or in two: %+v", s.TxUnaccounted(), s)
	}
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

// completed says that the next completion is one without error, of the WQE.
func (r *sendRig) completed(c *desc.ControlSegment) {
	r.t.Helper()
	e, w, ok := r.next()
	switch {
	case !ok:
		r.t.Error("no completion")
	case w.Opcode() != desc.OpReq:
		r.t.Errorf("opcode %d: %v", w.Opcode(), e.Syndrome())
	case w.WQECounter() != c.Index() || e.SendOpcode() != c.Opcode() || e.Queue() != rigNumber:
		r.t.Errorf("completion of WQE %d, opcode %d, queue %d; want %d, %d, %d", w.WQECounter(),
			e.SendOpcode(), e.Queue(), c.Index(), c.Opcode(), rigNumber)
	}
}

// take is all that has arrived at the far end.
func (r *sendRig) take() (frames [][]byte) {
	var f Frame
	for r.far.Next(0, &f) {
		frames = append(frames, bytes.Clone(f.Data))
	}
	return frames
}

// arrive says that these frames have arrived, and no others.
func (r *sendRig) arrive(want ...[]byte) {
	r.t.Helper()
	sameFrames(r.t, "", r.take(), want)
}

func sameFrames(t testing.TB, name string, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d frames, want %d", name, len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: frame %d of %d is\n%.200x, want\n%.200x", name, i, len(got),
				got[i], want[i])
		}
	}
}

// sends posts the WQE and returns what it sent, in one Step.
func (r *sendRig) sends(o order) [][]byte {
	r.t.Helper()
	c := r.write(o)
	r.ring()
	r.completed(c)
	return r.take()
}

// reset takes the queue through a reset to Ready.
func (r *sendRig) reset() {
	r.sq.Modify(desc.Ready, desc.Error)
	r.sq.Modify(desc.Error, desc.Reset)
	r.sq.Reinit()
	r.pc, r.seen = 0, 0
	r.sq.Modify(desc.Reset, desc.Ready)
}

// patterned is what lies in the pages before anything is placed there.
func patterned(segs ...seg) (b []byte) {
	for _, s := range segs {
		for i := range s.n {
			b = append(b, byte((s.off+i)*7))
		}
	}
	return b
}

// shredded cuts bytes at random into segments in memory and in the WQE, as
// many as fit so many segments of 16 bytes.
func (r *sendRig) shredded(rnd *rand.Rand, b []byte, room int) (list []seg) {
	for len(b) > 0 {
		n := 1 + rnd.IntN(len(b))
		if inline := rnd.IntN(min(n, 40)) + 1; room > 10 && rnd.IntN(2) == 0 {
			list = append(list, seg{inline: b[:inline]})
			b, room = b[inline:], room-(inline+19)/16
			continue
		}
		if room < 6 || n > pageBytes/2 {
			n = len(b)
		}
		cut := r.place(b[:n], pageBytes)
		list, room = append(list, cut...), room-len(cut)
		b = b[n:]
	}
	return list
}
