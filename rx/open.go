package rx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// New makes a queue in state Ready with as much posted as there is memory for;
// a device takes its RQ. dom is lent until Close; nil means a domain of its
// own without translation.
func New(cfg Config, dom *dma.Domain) (q *Queue, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	plan, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	if dom == nil {
		dom = dma.New(dma.Config{})
	}
	q = &Queue{
		plan: plan, cfg: cfg, dom: dom, prefetch: cfg.Prefetch,
		geometry: geometryOf(&plan, cfg.Prefetch.SkipShared), metadata: metadataOf(cfg),
	}
	defer func() {
		if err != nil {
			err, q = errors.Join(err, q.dismantle()), nil
		}
	}()
	if err = q.openMemory(); err != nil {
		return q, err
	}
	if err = q.openRing(); err != nil {
		return q, err
	}
	if err = q.openFiller(); err != nil {
		return q, err
	}
	if cfg.XDP.Program != nil {
		if err = q.openXDP(); err != nil {
			return q, err
		}
	}
	q.choose()
	q.begin()
	q.refill(q, 0)
	q.publish()
	q.rq.Modify(desc.Reset, desc.Ready)
	return q, nil
}

// openMemory takes region, slab and pool.
func (q *Queue) openMemory() (err error) {
	p, m := &q.plan, q.cfg.Memory
	region, need := m.Region, p.GroupPages
	if p.Type == desc.Striding {
		need++ // the filler
		if q.cfg.XDP.Program != nil && !p.Linear {
			need++ // the side page
		}
	}
	if region == nil {
		// As much again as the ring for what packets hold, and the pool's cache.
		n := m.Pages
		fill(&n, 2*p.Pages+128)
		q.region, err = mem.Open(mem.Config{PageBytes: p.PageBytes, Pages: n, Kind: m.Kind})
		if err != nil {
			return err
		}
		region = q.region
	}
	if region.Pages() < need {
		return fmt.Errorf("rx: %d pages are too few, the smallest ring takes %d: "+
			"raise Memory.Pages", region.Pages(), need)
	}
	if q.slab, err = packet.NewSlab(p.Packets, m.Kind); err != nil {
		return err
	}
	q.pool, err = pagepool.New(pagepool.Config{
		Region: region, Domain: q.dom, Size: p.Pages, Provider: m.Provider,
	})
	q.arena = arenaOf(region)
	q.pages = make([]pagepool.Slot, p.Pages)
	q.scratch = make([]mem.Ref, p.Unit/p.Group*p.GroupPages)
	return err
}

// openRing makes the queues that the device sees.
func (q *Queue) openRing() (err error) {
	p, o := &q.plan, q.cfg.Offloads
	format := desc.MiniCSum
	if p.Type == desc.Striding {
		format = desc.MiniCSumStride
	}
	if q.cq, err = desc.NewCQ(int(log2(p.CQEntries)), o.Compression, format); err != nil {
		return err
	}
	if p.Type == desc.Cyclic {
		p.place(func(page, off int) {
			q.layout = append(q.layout, segment{uint32(page), uint32(off)})
		})
		q.rq, err = desc.NewCyclicRQ(desc.CyclicConfig{
			LogWQEs: int(log2(p.WQEs)), SegsPerWQE: powerOf2(p.NumFrags), KeepVLAN: o.KeepVLAN,
		}, q.cq)
		return err
	}
	headroom := 0
	if p.Linear {
		headroom = p.Headroom
	}
	q.consumed = make([]uint32, p.WQEs)
	q.rq, err = desc.NewStridingRQ(desc.StridingConfig{
		LogStrideBytes: int(log2(p.StrideBytes)), LogStrides: int(log2(p.Strides)),
		LogWQEs: int(log2(p.WQEs)), PageBytes: p.PageBytes, HeadRoom: headroom,
		KeepVLAN: o.KeepVLAN,
	}, q.cq)
	return err
}

// openFiller maps a page behind the pages of every WQE of a striding queue: a
// frame that is too long and begins in the last strides ends there and not in
// the next WQE (facts/mlx5e.md 1.7).
func (q *Queue) openFiller() error {
	if q.plan.Type != desc.Striding {
		return nil
	}
	if q.pool.Alloc(q.scratch[:1]) == 0 {
		return errors.New("rx: no page for the filler behind the WQEs: " +
			"the provider has no memory or the domain no address")
	}
	q.filler = q.scratch[0]
	for i := range q.rq.MTT {
		q.rq.MTT[i] = q.filler.Meta().IOVA | desc.MTTRead | desc.MTTWrite
	}
	return nil
}

// choose takes the variants once, so that no packet asks for them.
func (q *Queue) choose() {
	switch p := &q.plan; {
	case q.xdp != nil:
		q.accept, q.refill = q.chooseXDP()
	case p.Type == desc.Striding && p.Linear:
		q.accept, q.refill = acceptLinear, refillStriding
	case p.Type == desc.Striding:
		q.accept, q.refill = acceptNonlinear, refillStriding
	case p.Linear:
		q.accept, q.refill = acceptCyclic, refillCyclic
	default:
		q.accept, q.refill = acceptCyclicFrags, refillCyclic
	}
	q.harvest = [...]func(*Queue, *packet.Batch, int) int{
		harvestPlain, harvestBasic, harvestEnhanced,
	}[q.cfg.Offloads.Compression]
}

// RQ is what the device takes: lent until Close.
func (q *Queue) RQ() *desc.RQ { return q.rq }

// Slab holds the queue's packets; batches for Poll are made of it.
func (q *Queue) Slab() *packet.Slab { return q.slab }

// Pool owns the pages; another goroutine gives references back by its Return.
func (q *Queue) Pool() *pagepool.Pool { return q.pool }

// Plan is the geometry in use.
func (q *Queue) Plan() Plan { return q.plan }

// Close takes the ring from the device and gives all memory back. While
// packets are out it fails and says how many; they stay readable, Free still
// takes them, and Close may be called again.
func (q *Queue) Close() error {
	q.stop()
	if q.xdp != nil {
		q.xdp.send.Close()
	}
	return q.dismantle()
}

// dismantle closes what has been opened, the last first.
func (q *Queue) dismantle() error {
	var err error
	if q.filler != mem.None {
		q.pool.Put(q.filler, pagepool.Bias)
		q.filler = mem.None
	}
	if q.pool != nil {
		err = q.pool.Close()
	}
	if q.slab != nil {
		if n := q.slab.InUse(); n > 0 {
			return fmt.Errorf("rx: close queue %d: %d packets are not freed", q.cfg.Queue, n)
		}
	}
	if err != nil {
		return err
	}
	if q.slab != nil {
		err = q.slab.Close()
	}
	if q.region != nil {
		err = errors.Join(err, q.region.Close())
	}
	return err
}

func log2(n int) uint8 { return uint8(bits.TrailingZeros(uint(n))) }
