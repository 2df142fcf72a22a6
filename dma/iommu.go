package dma

import (
	"sync/atomic"

	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
)

// An iommu translates addresses for the device in units of a granule.
type iommu struct {
	table table[atomic.Uint64]
	tlb   iotlb
	space space
	lazy  bool
	wait  uint64 // ticks of the TSC: InvalidateNs
	flush flushState
}

func newIOMMU(cfg Config) *iommu {
	u := &iommu{lazy: cfg.Mode == Lazy}
	u.tlb.init(cfg.TLBEntries, cfg.TLBWays)
	first := uint64(firstIOVA)
	if n := cfg.AddressBytes &^ (granule - 1); n > 0 && n < lastIOVA-firstIOVA {
		first = lastIOVA - uint64(n)
	}
	u.space.init(uint32(first>>granuleShift), lastIOVA>>granuleShift)
	if cfg.InvalidateNs > 0 {
		u.wait = uint64(float64(cfg.InvalidateNs) * float64(cpu.PerSecond()) / 1e9)
	}
	return u
}

// settle waits as a driver does for a real IOMMU to acknowledge.
func (u *iommu) settle() {
	if u.wait == 0 {
		return
	}
	for start := cpu.TSC(); cpu.TSC()-start < u.wait; {
	}
}

// A pte is an entry of the page table, one word:
//
//	63..32 page | 31..24 granule in page | 23..12 offset | 11..2 granules | 1..0 Dir
//
// It is present if it has a direction. The first entry of a mapping says how
// many granules the mapping has and where in the first one it begins; in the
// others both are 0.
type pte uint64

func makePTE(page mem.Ref, granule uint32, dir Dir) pte {
	return pte(page)<<32 | pte(granule)<<24 | pte(dir)
}

func (e pte) first(offset, granules uint32) pte { return e | pte(offset)<<12 | pte(granules)<<2 }

func (e pte) page() mem.Ref     { return mem.Ref(e >> 32) }
func (e pte) granule() uint32   { return uint32(e) >> 24 }
func (e pte) offset() uint32    { return uint32(e) >> 12 % granule }
func (e pte) granules() uint32  { return uint32(e) >> 2 % 1024 }
func (e pte) allows(d Dir) bool { return Dir(e)&d != 0 }

// follows: e is the translation behind before, k granules on in the same page.
func (e pte) follows(before pte, k uint32, dir Dir) bool {
	return e.allows(dir) && e.page() == before.page() && e.granule() == before.granule()+k
}

// grant enters a range in the page table.
func (m *Mapper) grant(page mem.Ref, off, n uint32, dir Dir) (uint64, error) {
	k := off / granule
	count := (off+n-1)/granule - k + 1
	g, ok := m.address(count)
	if !ok {
		return 0, ErrNoAddress
	}
	iova := uint64(g)<<granuleShift | uint64(off%granule)
	t := &m.d.iommu.table
	t.at(iova).Store(uint64(makePTE(page, k, dir).first(off%granule, count)))
	for i := uint32(1); i < count; i++ {
		t.at(uint64(g+i) << granuleShift).Store(uint64(makePTE(page, k+i, dir)))
	}
	return iova, nil
}

// revoke takes a mapping out of the page table; its address goes to the
// caches behind the invalidation, at once or by way of the flush queue.
func (m *Mapper) revoke(iova uint64) bool {
	u := m.d.iommu
	entry := u.table.find(iova)
	if entry == nil {
		return false
	}
	e := pte(entry.Load())
	count := e.granules()
	if count == 0 || uint64(e.offset()) != iova%granule ||
		!entry.CompareAndSwap(uint64(e), 0) { // of two who unmap, one is at fault
		return false
	}
	g := uint32(iova >> granuleShift)
	for i := uint32(1); i < count; i++ {
		u.table.find(uint64(g+i) << granuleShift).Store(0)
	}
	if u.lazy {
		m.defers(g, count)
		return true
	}
	u.tlb.invalidate(g, count)
	u.settle()
	m.count.invalidations++
	m.mu.Lock()
	m.give(g, count)
	m.mu.Unlock()
	return true
}

// reach is the device's access: one look-up for each granule it touches.
func (u *iommu) reach(iova uint64, n uint32, dir Dir) ([]byte, bool) {
	if iova >= lastIOVA {
		return nil, false
	}
	g, off := uint32(iova>>granuleShift), uint32(iova%granule)
	first := u.tlb.translate(&u.table, g)
	at := first.granule()*granule + off
	if !first.allows(dir) || !first.page().Holds(at, n) {
		return nil, false
	}
	for k := uint32(1); uint64(k)*granule < uint64(off)+uint64(n); k++ {
		if !u.tlb.translate(&u.table, g+k).follows(first, k, dir) {
			return nil, false
		}
	}
	return first.page().Bytes(at, n), true
}
