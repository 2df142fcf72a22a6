package dma

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
)

// A Mapper maps and unmaps for one queue, with caches of addresses and a flush
// queue of its own: what a CPU has in Linux. It belongs to one goroutine. What
// one Mapper mapped another may unmap; the address then goes to the caches of
// the one that unmaps.
type Mapper struct {
	d     *Domain
	count tally

	_      cpu.CacheLinePad // what follows others touch, rarely
	mu     sync.Mutex
	caches [classes]cache
	queue  flushQueue // Lazy
	shown  tally      // count as of the last Tick
}

// NewMapper makes a Mapper. The caller closes it.
func (d *Domain) NewMapper() *Mapper {
	m := &Mapper{d: d}
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	d.members = append(d.members, m)
	return m
}

// Map is Domain.Map.
func (m *Mapper) Map(page mem.Ref) (iova uint64, err error) {
	n := page.PageBytes()
	if !page.Holds(0, 1) {
		return 0, fmt.Errorf("dma: map page %d of region %d: no such page",
			page.Page(), page.Region())
	}
	if bits.OnesCount32(n) != 1 || n < granule || n > 64<<10 {
		return 0, fmt.Errorf("dma: map page %d of region %d: it has %d bytes, "+
			"want a power of two from 4096 to 65536", page.Page(), page.Region(), n)
	}
	return m.enter(page, 0, n, Both, true)
}

// MapRange lends n bytes at off of the page to the device and returns their
// I/O address, never 0. Several mappings of one page have addresses of their
// own. With an IOMMU the device is held to dir, and to the 4 KiB granules that
// the range touches: as in hardware it reaches the rest of those granules,
// too, as far as the page goes. In Bounce the bounds are exact. It fails when
// the range is empty, longer than 1 MiB (256 KiB in Bounce), or not in a page
// of an open region, and with ErrNoAddress or ErrNoSlot.
func (m *Mapper) MapRange(page mem.Ref, off, n uint32, dir Dir) (iova uint64, err error) {
	if n == 0 || !page.Holds(off, n) || uint64(off)+uint64(n) > maxMapBytes ||
		dir == 0 || dir > Both {
		return 0, rangeError(page, off, n, dir)
	}
	if m.d.mode == Passthrough { // here, not in enter: a call less, of 6 ns
		m.count.maps++
		return identity(page) + uint64(off), nil
	}
	return m.enter(page, off, n, dir, false)
}

func rangeError(page mem.Ref, off, n uint32, dir Dir) error {
	return fmt.Errorf("dma: map %d bytes at %d of page %d, region %d, dir %d: "+
		"want a range in a page, inside its first MiB, and a direction",
		n, off, page.Page(), page.Region(), dir)
}

// enter maps a range that is known to be good. With held, Unmap does not copy.
func (m *Mapper) enter(page mem.Ref, off, n uint32, dir Dir, held bool) (
	iova uint64, err error) {
	switch m.d.mode {
	case Passthrough:
		iova = identity(page)
	case Bounce:
		iova, err = m.lend(page, off, n, dir, held)
	default:
		iova, err = m.grant(page, off, n, dir)
	}
	if err != nil {
		m.count.refused++
		return 0, err
	}
	m.count.maps++
	return iova, nil
}

// Unmap ends the device's access. In Strict and Bounce no Reach that begins
// after it succeeds; in Lazy the device may use the address until the flush,
// and nobody else gets it before. Bounce copies what the device wrote to the
// CPU's bytes, if MapRange said FromDevice. An address that Map did not
// return, or that was unmapped, is a driver fault; Passthrough misses most.
func (m *Mapper) Unmap(iova uint64) {
	var ok bool
	switch m.d.mode {
	case Passthrough:
		page, off, valid := place(iova)
		ok = valid && page.Holds(off, 1)
	case Bounce:
		ok = m.recall(iova)
	default:
		ok = m.revoke(iova)
	}
	if !ok {
		m.count.driverFaults++
		return
	}
	m.count.unmaps++
}

// UnmapAll is Unmap for addresses that MapRange of this domain returned, one by
// one. In Passthrough it only counts them, and finds no fault.
func (m *Mapper) UnmapAll(iovas []uint64) {
	if m.d.mode == Passthrough {
		m.count.unmaps += uint64(len(iovas))
		return
	}
	for _, iova := range iovas {
		m.Unmap(iova)
	}
}

// Tick publishes the Mapper's counts for Stats and does what is due at now,
// in nanoseconds. The owner calls it once a poll.
func (m *Mapper) Tick(now int64) {
	m.mu.Lock()
	m.shown = m.count
	m.mu.Unlock()
	m.d.Tick(now)
}

// Close gives the caches and the addresses that wait for a flush back. What
// is mapped stays mapped. Closing twice does nothing.
func (m *Mapper) Close() {
	d := m.d
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	for i, other := range d.members {
		if other == m {
			d.members = append(d.members[:i], d.members[i+1:]...)
			d.closed.add(&m.count)
			if d.iommu != nil {
				d.drain(m)
			}
			return
		}
	}
}
