package dma

import (
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
)

// A world is two Mappers, a device and what each mapping must look like.
type world struct {
	t      *testing.T
	d      *Domain
	m      [2]*Mapper
	pages  []mem.Ref
	live   []mapping
	dead   []mapping // unmapped lately
	now    int64
	refuse uint64
	maps   uint64
}

type mapping struct {
	iova   uint64
	page   mem.Ref
	off, n uint32
	dir    Dir
	flush  uint64 // flushes that had begun when it was unmapped
}

// span is the granules of a mapping: what no other may have.
func (p mapping) span() (from, to uint64) {
	return p.iova / granule, (p.iova + uint64(p.n) - 1) / granule
}

// Mappings made and ended at random by two Mappers, in a space that runs full,
// while the device uses what it may and what it may not. The laws are checked
// after every step.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	pages := append(open(t, 4096, 4), append(open(t, 65536, 2), open(t, 640, 3)...)...)
	for run := range testenv.Seeds(200) {
		for _, mode := range []Mode{Passthrough, Strict, Lazy, Bounce} {
			rng := testenv.Rand(seed, uint64(run)<<8|uint64(mode))
			w := &world{t: t, d: small(mode, 64+rng.IntN(2000))}
			if mode == Bounce && rng.IntN(2) == 0 {
				w.d.slots.poison = true
			}
			w.m = [2]*Mapper{w.d.NewMapper(), w.d.NewMapper()}
			w.pages = pages
			for range 600 {
				w.step(rng.IntN(12), rng.Uint32(), rng.Uint32(), rng.Uint32())
				if t.Failed() {
					t.Fatalf("run %d, %s", run, mode)
				}
			}
			w.end()
		}
	}
}

func (w *world) step(what int, a, b, c uint32) {
	m := w.m[c%2]
	switch {
	case what < 5:
		w.enter(m, a, b, c)
	case what < 8 && len(w.live) > 0:
		i := int(a) % len(w.live)
		p := w.live[i]
		w.live[i] = w.live[len(w.live)-1]
		w.live = w.live[:len(w.live)-1]
		if u := w.d.iommu; u != nil {
			p.flush = u.flush.started.Load()
		}
		m.Unmap(p.iova)
		w.dead = append(w.dead, p)
		w.use(p, false)
	case what < 10 && len(w.live) > 0:
		w.use(w.live[int(a)%len(w.live)], true)
	case what < 11 && len(w.dead) > 0:
		w.use(w.dead[int(a)%len(w.dead)], false)
	default:
		w.now += int64(a % 8e6)
		m.Tick(w.now)
	}
}

// enter maps a range and checks that its address is nobody's.
func (w *world) enter(m *Mapper, a, b, c uint32) {
	p := mapping{page: w.pages[int(a)%len(w.pages)], dir: Dir(1 + c/2%3)}
	p.off = b % p.page.PageBytes()
	p.n = 1 + c%min(p.page.PageBytes()-p.off, 20000)
	var err error
	if p.iova, err = m.MapRange(p.page, p.off, p.n, p.dir); err != nil {
		w.refuse++
		if err != ErrNoAddress && err != ErrNoSlot {
			w.t.Error(err)
		}
		return
	}
	w.maps++
	if w.d.mode != Passthrough {
		w.fresh(p)
	}
	w.live = append(w.live, p)
}

// fresh: no other mapping has an address of p's, and the IOTLB knows none.
func (w *world) fresh(p mapping) {
	from, to := p.span()
	for _, o := range w.live {
		if f, l := o.span(); f <= to && from <= l {
			w.t.Errorf("%+v overlaps %+v", p, o)
		}
	}
	keep := w.dead[:0]
	for _, o := range w.dead {
		f, l := o.span()
		if f > to || from > l {
			keep = append(keep, o)
		} else if u := w.d.iommu; u != nil && u.lazy && u.flush.finished.Load() <= o.flush {
			w.t.Errorf("%+v has the address of %+v, which no flush has ended", p, o)
		}
	}
	w.dead = keep // their addresses mean something else
	if w.d.iommu == nil {
		return
	}
	tlb := &w.d.iommu.tlb
	for g := from; g <= to; g++ {
		for _, way := range tlb.sets[uint32(g)&tlb.mask].ways {
			if uint64(way.granule) == g {
				w.t.Errorf("%+v: the IOTLB knows %#x of old", p, g)
			}
		}
	}
}

// use lets the device read and write a mapping, and compares with what its
// mode and direction allow.
func (w *world) use(p mapping, live bool) {
	for _, dir := range []Dir{ToDevice, FromDevice} {
		b, ok := w.d.Reach(p.iova, p.n, dir == FromDevice)
		allowed := live && p.dir&dir != 0
		switch {
		case w.d.mode == Passthrough:
			allowed = true
		case w.d.mode == Lazy && !live:
			u := w.d.iommu // stale until the flush, then gone
			allowed = ok && p.dir&dir != 0 && u.flush.finished.Load() <= p.flush
		}
		if ok != allowed || ok && len(b) != int(p.n) {
			w.t.Errorf("%+v, live %v: access %d is %v", p, live, dir, ok)
		}
	}
}

// end unmaps what is left: maps are unmaps, and the space is whole again.
func (w *world) end() {
	for i, p := range w.live {
		w.m[i%2].Unmap(p.iova)
	}
	w.m[0].Close()
	w.m[1].Close()
	s := w.d.Stats()
	if s.Maps != w.maps || s.Unmaps != w.maps || s.Refused != w.refuse || s.DriverFaults != 0 {
		w.t.Errorf("%s: %d maps, %d refused: %+v", w.d.mode, w.maps, w.refuse, s)
	}
	switch w.d.mode {
	case Strict:
		if s.Invalidations != s.Unmaps {
			w.t.Errorf("strict: %d invalidations for %d unmaps", s.Invalidations, s.Unmaps)
		}
	case Lazy:
		if s.Invalidations != s.Flushes || s.Flushes > s.Unmaps {
			w.t.Errorf("lazy: %d invalidations, %d flushes, %d unmaps",
				s.Invalidations, s.Flushes, s.Unmaps)
		}
	default:
		if s.Invalidations != 0 {
			w.t.Errorf("%s: %d invalidations", w.d.mode, s.Invalidations)
		}
	}
	if u := w.d.iommu; u != nil {
		w.d.reclaim()
		if root := u.space.tree.nodes[u.space.tree.root]; root.start+root.n != lastIOVA/granule ||
			root.left != 0 || root.right != 0 {
			w.t.Errorf("%s: addresses are missing at the end: %+v", w.d.mode, root)
		}
	}
}
