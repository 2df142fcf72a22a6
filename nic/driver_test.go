package nic

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A driver is the least that a device needs at the other side: it posts all it
// has, decodes completions, copies frames out and posts again.
type driver struct {
	t      testing.TB
	rq     *desc.RQ
	dom    *dma.Domain
	region *mem.Region
	pages  []mem.Ref // striding: page k of WQE i; cyclic: segment s of WQE i
	filler mem.Ref

	cc       uint32 // completions consumed
	posted   uint16
	head     uint16 // striding: next WQE to post
	tail     int    // the WQE whose next index the next free one goes to
	consumed []int  // strides of each WQE
	title    desc.CQE
	next     uint16 // running counter below the title
	got      []received
	mute     bool // do not copy frames out (benchmarks)
	wary     bool // what contradicts the contract sets broken, and is not followed
	broken   bool
	current  int // the WQE in use, as the completions say
}

// A received is a completion, decompressed, and the frame it is about.
type received struct {
	desc.CQE
	data []byte
}

func (p *received) opcode() desc.Opcode { return desc.Opcode(p.OpOwn() >> 4) }

// A layout is what the queues of a test differ in.
type layout struct {
	desc.StridingConfig
	cyclic      desc.CyclicConfig // used when LogStrideBytes is 0
	segBytes    int
	logCQ       int
	compression desc.Compression
	format      desc.MiniFormat
	mode        dma.Mode
}

// linear1500 and nonlinear9000 are the worked examples of facts/mlx5e.md 14,
// with fewer WQEs.
var (
	linear1500 = layout{StridingConfig: desc.StridingConfig{LogStrideBytes: 11, LogStrides: 7,
		LogWQEs: 2, PageBytes: 4096, HeadRoom: 64}, logCQ: 10, mode: dma.Bounce}
	nonlinear9000 = layout{StridingConfig: desc.StridingConfig{LogStrideBytes: 8,
		LogStrides: 10, LogWQEs: 2, PageBytes: 4096}, logCQ: 12, mode: dma.Bounce}
	small = layout{StridingConfig: desc.StridingConfig{LogStrideBytes: 8, LogStrides: 4,
		LogWQEs: 2, PageBytes: 4096}, logCQ: 6, mode: dma.Bounce}
	cyclic2 = layout{cyclic: desc.CyclicConfig{LogWQEs: 3, SegsPerWQE: 2}, segBytes: 1024,
		logCQ: 4, mode: dma.Bounce}
)

func (l layout) striding() bool { return l.LogStrideBytes != 0 }

// newDriver opens a queue in state Ready with everything posted.
func newDriver(t testing.TB, l layout) *driver {
	t.Helper()
	cq, err := desc.NewCQ(l.logCQ, l.compression, l.format)
	check(t, err)
	d := &driver{t: t, dom: dma.New(dma.Config{Mode: l.mode, Poison: true})}
	n := 0
	if l.striding() {
		d.rq, err = desc.NewStridingRQ(l.StridingConfig, cq)
		check(t, err)
		n = d.rq.PagesPerWQE << l.LogWQEs
		d.consumed = make([]int, 1<<l.LogWQEs)
	} else {
		d.rq, err = desc.NewCyclicRQ(l.cyclic, cq)
		check(t, err)
		n = len(d.rq.Segments)
	}
	d.region, err = mem.Open(mem.Config{PageBytes: max(4096, l.PageBytes), Pages: n + 1,
		Kind: mem.Heap})
	check(t, err)
	t.Cleanup(func() { check(t, d.region.Close()) })
	d.pages = make([]mem.Ref, n+1)
	d.region.Alloc(d.pages)
	d.filler, d.pages = d.pages[n], d.pages[:n]
	for _, p := range append(slices.Clone(d.pages), d.filler) {
		p.Meta().IOVA, err = d.dom.Map(p)
		check(t, err)
	}
	d.translate(l)
	d.start()
	return d
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// translate tells the device where the pages are.
func (d *driver) translate(l layout) {
	const rw = desc.MTTRead | desc.MTTWrite
	for i := range d.rq.MTT {
		d.rq.MTT[i] = d.filler.Meta().IOVA | rw
		wqe, k := i/d.rq.MTTsPerWQE, i%d.rq.MTTsPerWQE
		if k < d.rq.PagesPerWQE {
			d.rq.MTT[i] = d.pages[wqe*d.rq.PagesPerWQE+k].Meta().IOVA | rw
		}
	}
	for i := range d.rq.Segments {
		d.rq.Segments[i].Set(uint32(l.segBytes), 1, d.pages[i].Meta().IOVA)
	}
}

// start posts all WQEs of a queue in state Reset and makes it Ready.
func (d *driver) start() {
	d.cc, d.posted, d.head, d.tail, d.next = 0, 0, 0, len(d.rq.List)-1, 0
	d.broken, d.current = false, 0
	clear(d.consumed)
	if !d.rq.Modify(desc.Reset, desc.Ready) {
		d.t.Fatalf("queue is in state %d", d.rq.State())
	}
	if d.rq.Type == desc.Cyclic {
		d.post(1 << d.rq.LogWQEs)
	} else {
		d.post(len(d.rq.List) - 1)
	}
}

// restart takes the queue through a reset.
func (d *driver) restart() {
	d.rq.Modify(desc.Ready, desc.Error)
	if !d.rq.Modify(desc.Error, desc.Reset) {
		d.t.Fatalf("queue is in state %d", d.rq.State())
	}
	segs := slices.Clone(d.rq.Segments)
	d.rq.Reinit()
	copy(d.rq.Segments, segs)
	d.start()
}

func (d *driver) post(n int) {
	for range n {
		if d.rq.Type == desc.Striding {
			d.head = d.rq.List[d.head].Next()
		}
		d.posted++
	}
	d.rq.Producer.Ring(uint32(d.posted))
}

// pop frees a WQE that is complete and posts the next.
func (d *driver) pop(id int) {
	d.consumed[id] = 0
	d.rq.List[d.tail].SetNext(uint16(id))
	d.tail = id
	d.post(1)
}

// A bench is a device with one queue and a wire.
type bench struct {
	*driver
	dev  *Device
	wire *Frames
}

func newBench(t testing.TB, l layout, cfg Config) *bench {
	t.Helper()
	b := &bench{driver: newDriver(t, l), wire: new(Frames)}
	var err error
	b.dev, err = New(cfg, b.dom)
	check(t, err)
	_, err = b.dev.AddRQ(b.rq)
	check(t, err)
	b.dev.Plug(b.wire)
	return b
}

// send puts frames on the wire, steps until they are taken, and polls.
func (b *bench) send(frames ...[]byte) []received {
	b.t.Helper()
	for _, f := range frames {
		b.wire.List = append(b.wire.List, Frame{Data: f})
	}
	var got []received
	for {
		n := b.dev.Step(1000)
		got = append(got, b.poll()...)
		if n == 0 && b.wire.Left() == 0 {
			b.balance()
			return got
		}
	}
}

// balance is the law of the books: every frame ends in one counter.
func (b *bench) balance() {
	b.t.Helper()
	s := b.dev.Stats()
	if s.Unaccounted() != 0 {
		b.t.Errorf("%d frames are in no counter, or in two: %+v", s.Unaccounted(), s)
	}
}

func (p received) String() string {
	return fmt.Sprintf("wqe %d stride %d count %#x % x", p.WQEID(), p.WQECounter(),
		uint32(p.ByteCount()), p.CQE)
}
