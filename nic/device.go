package nic

import (
	"errors"
	"fmt"
	"sync"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
)

// Config describes a device. The zero value works.
type Config struct {
	On, Off Feature // switched on and off beside DefaultFeatures
	Burst   int     // frames a Step takes at most; 0 means 64
	Bypass  bool    // cache injection off: payload goes to DRAM past the caches
	Spill   bool    // frames run over the end of a WQE instead of a filler

	MinInline desc.MinInline // bytes of a frame that must lie in its send WQE

	RSSKey [KeyBytes]byte // all 0 means MicrosoftKey
	VXLAN  []uint16       // UDP ports of VXLAN; nil means 4789
	Seed   uint64         // of the faults
	Faults Faults
}

const (
	defaultBurst = 64
	tableSize    = 128 // entries of the indirection table
	maxQueues    = tableSize
)

// A Device is a software NIC. It has no goroutine and no clock: Step does the
// work. It belongs to the goroutine that calls Step; others may call Stats.
type Device struct {
	// Hot.
	wire     Wire
	frame    Frame
	label    label
	cqe      desc.CQE
	toeplitz *toeplitz
	parse    header.ParseOptions
	queues   []*queue
	table    [tableSize]uint8 // hash to queue
	senders  []*sender
	turn     int   // the sender that is served first
	cable    *End  // that sent frames leave by; nil: nobody listens
	spare    Frame // for frames that leave where nobody listens
	features Feature
	burst    int
	now      int64
	count    counters
	lro      merger
	faults   *mishaps // nil: none

	// Cold.
	dom   *dma.Domain
	cfg   Config
	mu    sync.Mutex
	stats Stats // as of the last Step
}

// New makes a device that reaches memory through dom and has no queue and no
// wire.
func New(cfg Config, dom *dma.Domain) (*Device, error) {
	if dom == nil {
		return nil, errors.New("nic: no dma.Domain; the device needs one to reach memory")
	}
	if cfg.Burst < 0 {
		return nil, fmt.Errorf("nic: Burst is %d, want 1 or more, or 0 for %d",
			cfg.Burst, defaultBurst)
	}
	if cfg.MinInline >= desc.NumMinInline {
		return nil, fmt.Errorf("nic: unknown MinInline %d", cfg.MinInline)
	}
	if cfg.Burst == 0 {
		cfg.Burst = defaultBurst
	}
	if cfg.RSSKey == [KeyBytes]byte{} {
		cfg.RSSKey = MicrosoftKey
	}
	if cfg.VXLAN == nil {
		cfg.VXLAN = []uint16{header.PortVXLAN}
	}
	d := &Device{
		cfg: cfg, dom: dom, burst: cfg.Burst, toeplitz: newToeplitz(cfg.RSSKey),
		parse: header.ParseOptions{VXLAN: cfg.VXLAN},
	}
	var err error
	if d.faults, err = newMishaps(cfg.Faults, cfg.Seed, &d.count); err != nil {
		return nil, err
	}
	d.lro.dev = d
	if err := d.Set((DefaultFeatures|cfg.On)&^cfg.Off, true); err != nil {
		return nil, err
	}
	return d, nil
}

// AddRQ gives the device a receive queue and returns its number. Frames are
// spread over all queues by their hash.
func (d *Device) AddRQ(rq *desc.RQ) (index int, err error) {
	index = len(d.queues)
	if index == maxQueues {
		return 0, fmt.Errorf("nic: the device has %d queues and takes no more", maxQueues)
	}
	if rq == nil || rq.CQ == nil {
		return 0, errors.New("nic: no RQ, or one without CQ; see desc.NewStridingRQ")
	}
	for i, q := range d.queues {
		if q.rq == rq || q.rq.CQ == rq.CQ {
			return 0, fmt.Errorf("nic: queue %d has this RQ or its CQ already", i)
		}
	}
	switch {
	case rq.KeepFCS:
		return 0, errors.New("nic: software frames have no frame check sequence; " +
			"turn KeepFCS off")
	case d.features&LRO != 0 && rq.Type != desc.Striding:
		return 0, errors.New("nic: a cyclic queue cannot hold merged segments; turn lro off first")
	case rq.Type == desc.Cyclic && rq.CQ.Compression != desc.CompressNone &&
		rq.CQ.MiniFormat.HasStride():
		return 0, fmt.Errorf("nic: mini format %d carries a stride index, "+
			"which a cyclic queue has not; use MiniCSum or MiniHash", rq.CQ.MiniFormat)
	}
	d.queues = append(d.queues, d.newQueue(rq))
	for i := range d.table {
		d.table[i] = uint8(i % len(d.queues))
	}
	return index, nil
}

func (d *Device) newQueue(rq *desc.RQ) *queue {
	q := &queue{
		rq: rq, dom: d.dom, cold: d.cfg.Bypass, spill: d.cfg.Spill,
		strides: 1 << rq.LogStrides, stride: 1 << rq.LogStrides, resets: rq.Resets(),
		count: &d.count, faults: d.faults,
	}
	q.out.cq, q.out.count, q.out.faults = rq.CQ, &d.count, d.faults
	q.setCompression(d.features)
	return q
}

// setCompression follows the feature; the queue's CQ says how.
func (q *queue) setCompression(on Feature) {
	kind := q.rq.CQ.Compression
	if on&Compress == 0 {
		kind = desc.CompressNone
	}
	q.out.run.setup(kind, q.rq.CQ.MiniFormat)
}

// Plug connects the wire that frames arrive on; nil unplugs.
func (d *Device) Plug(w Wire) { d.wire = w }

// Step does what is due at now, in ns on the device's clock: it sends what was
// posted to send, takes frames from the wire, at most Burst, writes them to
// posted memory and hands the completions over. It reports the frames taken.
func (d *Device) Step(now int64) int {
	d.now = now
	for _, q := range d.queues {
		q.enter()
	}
	d.serve()
	n := 0
	for n < d.burst && d.wire != nil && d.wire.Next(now, &d.frame) {
		n++
		if d.faults != nil {
			d.faults.arrive(d, &d.frame)
		} else {
			d.receive(&d.frame)
		}
	}
	if d.faults != nil {
		d.faults.settle(d)
	}
	d.lro.flushAll()
	for _, q := range d.queues {
		q.leave(now)
	}
	for _, s := range d.senders {
		s.leave(now)
	}
	d.keepStats()
	return n
}

// serve does what was posted to send. The queues take turns in being the first
// one, which finds most room in the cable.
func (d *Device) serve() {
	n := len(d.senders)
	for _, s := range d.senders {
		s.enter()
	}
	for i := range n {
		d.senders[(d.turn+i)%n].serve()
	}
	d.turn++
}
