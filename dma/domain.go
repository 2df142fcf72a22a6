package dma

import (
	"errors"
	"fmt"
	"sync"

	"github.com/millrace-net/millrace/mem"
)

// Mode says how an I/O address becomes a place in memory, and what ends its
// life.
type Mode uint8

const (
	Passthrough Mode = iota // the address names the page: no table, no protection
	Strict                  // an IOMMU; Unmap waits until the IOTLB has forgotten the address
	Lazy                    // an IOMMU; addresses are forgotten together, up to 10 ms later
	Bounce                  // no IOMMU; the device has a slot of its own, copied to and from
	NumModes
)

var modeNames = [...]string{"passthrough", "strict", "lazy", "bounce"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("dma.Mode(%d)", uint8(m))
}

// Dir says what the device may do with a mapped range.
type Dir uint8

const (
	ToDevice   Dir = 1 << iota // the device reads
	FromDevice                 // the device writes
	Both       = ToDevice | FromDevice
)

// Config describes a domain. The zero value is Passthrough.
type Config struct {
	Mode Mode

	// Strict, Lazy. Entries and ways are rounded up to powers of two.
	AddressBytes int // I/O addresses there are; 0, or more than there can be, means 508 GiB
	TLBEntries   int // translations the IOTLB holds; 0 means 64
	TLBWays      int // places a translation can be in; 0 means 4, at most TLBEntries
	InvalidateNs int // least time an invalidation takes; 0 means no more than the work

	// Bounce.
	BounceBytes int  // memory for slots; 0 means 64 MiB
	Poison      bool // bytes the device may write read as 0xCC on the CPU until synced
}

// A mapping lies inside one page and is at most 1 MiB.
const (
	granuleShift = 12
	granule      = 1 << granuleShift
	maxMapBytes  = 1 << offBits
)

// Errors of a Map that may succeed once something is unmapped.
var (
	ErrNoAddress = errors.New("dma: the I/O address space is used up; unmap something")
	ErrNoSlot    = errors.New("dma: the bounce slots are used up; unmap something, " +
		"or raise Config.BounceBytes")
)

// A Domain is one I/O address space. Every device and every queue that shares
// it may use it at once.
type Domain struct {
	mode  Mode
	iommu *iommu // Strict, Lazy
	slots *slots // Bounce

	mu   sync.Mutex // main
	main *Mapper

	membersMu sync.Mutex
	members   []*Mapper
	closed    tally // of Mappers that were closed

	count counters
}

// New makes a domain in which nothing is mapped.
func New(cfg Config) *Domain {
	d := &Domain{mode: cfg.Mode}
	switch cfg.Mode {
	case Strict, Lazy:
		d.iommu = newIOMMU(cfg)
	case Bounce:
		d.slots = newSlots(cfg)
	default:
		d.mode = Passthrough
	}
	d.main = d.NewMapper()
	return d
}

// Map lends the whole page to the device, which may read and write it, and
// returns its I/O address: never 0, a multiple of the page's size, and
// contiguous for all of the page. Unmap will not copy: what the CPU wants to
// see it syncs (a page pool's mapping, DMA_ATTR_SKIP_CPU_SYNC). It fails for a
// page that is not in an open region, for one whose size is no power of two
// from 4 to 64 KiB, and with ErrNoAddress or ErrNoSlot.
func (d *Domain) Map(page mem.Ref) (iova uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.main.Map(page)
}

// MapRange lends n bytes at off of the page to the device: see
// Mapper.MapRange.
func (d *Domain) MapRange(page mem.Ref, off, n uint32, dir Dir) (iova uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.main.MapRange(page, off, n, dir)
}

// Unmap ends the device's access to what a Map, of this domain or one of its
// Mappers, returned iova for: see Mapper.Unmap.
func (d *Domain) Unmap(iova uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.main.Unmap(iova)
}

// Tick does what is due at now, in nanoseconds: flushes addresses that have
// waited 10 ms, gives surplus caches back. Any goroutine may call it; a
// Mapper's Tick does it, too.
func (d *Domain) Tick(now int64) {
	if d.iommu != nil {
		d.tick(now)
	}
}
