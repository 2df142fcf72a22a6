package dma

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/millrace-net/millrace/mem"
)

// Mode says how an I/O address becomes a place in memory.
type Mode uint8

const (
	Identity  Mode = iota // the address names region, page and offset; no copies
	PageTable             // a radix table; the device has its own copy of each page
)

// Config describes a domain. The zero value is Identity.
type Config struct {
	Mode   Mode
	Poison bool // PageTable: bytes that the device owns read as 0xCC on the CPU
}

// Page sizes that can be mapped: powers of two from 4 to 64 KiB.
const (
	minPageShift = 12
	maxPageShift = 16
)

// A Domain is one I/O address space. Every device and every queue that shares
// it may use it at once.
type Domain struct {
	table  *table // nil: Identity
	poison bool

	mu   sync.Mutex // Map and Unmap
	next uint64     // first address never used
	free [maxPageShift - minPageShift + 1][]*frame

	count counters
}

// New makes a domain in which nothing is mapped.
func New(cfg Config) *Domain {
	d := &Domain{poison: cfg.Poison, next: firstIOVA}
	if cfg.Mode == PageTable {
		d.table = new(table)
	}
	return d
}

// Map lends the whole page to the device, which may read and write it, and
// returns its I/O address: never 0, and contiguous for all of the page. In
// PageTable mode the device gets a copy of the bytes. It fails for a page
// that is not in an open region, for one whose size is no power of two from 4
// to 64 KiB, and when the address space is used up.
func (d *Domain) Map(page mem.Ref) (iova uint64, err error) {
	n := page.PageBytes()
	if !page.Holds(0, 1) {
		return 0, fmt.Errorf("dma: map page %d of region %d: no such page",
			page.Page(), page.Region())
	}
	shift := bits.TrailingZeros32(n)
	if n != 1<<shift || shift < minPageShift || shift > maxPageShift {
		return 0, fmt.Errorf("dma: map page %d of region %d: it has %d bytes, "+
			"want a power of two from 4096 to 65536", page.Page(), page.Region(), n)
	}
	iova = identity(page)
	if d.table != nil {
		f, err := d.enter(page, shift-minPageShift)
		if err != nil {
			return 0, err
		}
		f.give(0, n, d.poison)
		d.table.set(f, f)
		iova = f.iova
	}
	d.count.maps.Add(1)
	return iova, nil
}

// enter takes a frame with an I/O address for the page: one that was used
// before, or a fresh one.
func (d *Domain) enter(page mem.Ref, class int) (*frame, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if list := d.free[class]; len(list) > 0 {
		f := list[len(list)-1]
		d.free[class] = list[:len(list)-1]
		f.page = page
		return f, nil
	}
	size := uint64(granule) << class
	iova := (d.next + size - 1) &^ (size - 1)
	if iova+size > lastIOVA {
		return nil, fmt.Errorf("dma: map %d bytes: the I/O address space of %d GiB is used up",
			size, (lastIOVA-firstIOVA)>>30)
	}
	d.next = iova + size
	return newFrame(page, iova, size), nil
}

// Unmap ends the device's access to the page that Map returned iova for. The
// bytes that were not synced are lost to the CPU. An address that Map did not
// return is a driver fault.
func (d *Domain) Unmap(iova uint64) {
	if d.table == nil {
		if page, off, ok := place(iova); !ok || off != 0 || !page.Holds(0, 1) {
			d.count.driverFaults.Add(1)
			return
		}
		d.count.unmaps.Add(1)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.table.find(iova)
	if f == nil || f.iova != iova {
		d.count.driverFaults.Add(1)
		return
	}
	d.table.set(f, nil)
	class := bits.TrailingZeros(uint(len(f.shadow))) - minPageShift
	d.free[class] = append(d.free[class], f)
	d.count.unmaps.Add(1)
}
