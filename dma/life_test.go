package dma

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
)

// Mappings never overlap, addresses are reused, and maps equal unmaps.
func TestAddressesOfManyPages(t *testing.T) {
	seed := testenv.Seed(t)
	for _, mode := range []Mode{Strict, Lazy, Bounce} {
		rng := testenv.Rand(seed, uint64(mode))
		d := New(Config{Mode: mode})
		var idle []mem.Ref
		for _, size := range []int{4096, 16384, 65536} {
			idle = append(idle, open(t, size, 20)...)
		}
		live, owner, seen := map[mem.Ref]uint64{}, map[uint64]mem.Ref{}, map[uint64]bool{}
		for range 3000 {
			page := idle[rng.IntN(len(idle))]
			iova, mapped := live[page]
			if mapped {
				d.Unmap(iova)
				delete(live, page)
			} else {
				live[page] = mapPage(t, d, page)
				iova = live[page]
			}
			for g := iova; g < iova+uint64(page.PageBytes()); g += granule {
				seen[g] = true
				if mapped {
					delete(owner, g)
				} else if other, taken := owner[g]; taken {
					t.Fatalf("%s: %#x belongs to two pages, %#x and %#x", mode, g, other, page)
				} else {
					owner[g] = page
				}
			}
			if s := d.Stats(); s.Maps-s.Unmaps != uint64(len(live)) {
				t.Fatalf("%s: %d maps, %d unmaps, %d pages mapped",
					mode, s.Maps, s.Unmaps, len(live))
			}
		}
		waiting := map[Mode]int{Lazy: 16 * flushEntries}[mode]
		if len(seen) > 20*(1+4+16)+waiting {
			t.Errorf("%s: %d granules used for 60 pages: they are not reused", mode, len(seen))
		}
		for _, iova := range live {
			d.Unmap(iova)
		}
		if s := d.Stats(); s.Maps != s.Unmaps || s.DriverFaults != 0 {
			t.Errorf("%s: at the end: %+v", mode, s)
		}
	}
}

// Two drivers map and unmap while each one's device writes: what the race
// detector must find silent, on the heap.
func TestDeviceOnItsOwnGoroutine(t *testing.T) {
	for _, cfg := range modes {
		d := New(cfg)
		var wg sync.WaitGroup
		for driver := range 2 {
			pages := open(t, 4096<<(2*driver), 4)
			var posted, done atomic.Uint64 // an address each; 0: empty
			var stop atomic.Bool
			wg.Go(func() { // the device
				for !stop.Load() {
					iova := posted.Swap(0)
					if iova == 0 {
						d.Reach(1<<20, 1, true) // a fault, while tables grow
						runtime.Gosched()
						continue
					}
					if b, ok := d.Reach(iova, 256, true); ok {
						b[0], b[255] = byte(iova>>12), 0x55
						done.Store(iova)
					}
				}
			})
			wg.Go(func() { // the driver
				defer stop.Store(true)
				for i := range 500 {
					page := pages[i%len(pages)]
					iova := mapPage(t, d, page)
					posted.Store(iova)
					for done.Swap(0) == 0 {
						d.Stats()
						runtime.Gosched()
					}
					d.SyncForCPU(iova, 256)
					if b := page.Bytes(0, 256); b[0] != byte(iova>>12) || b[255] != 0x55 {
						t.Errorf("the driver reads %x and %x", b[0], b[255])
					}
					d.Unmap(iova)
				}
			})
		}
		wg.Wait()
		if s := d.Stats(); s.Maps != 1000 || s.Unmaps != 1000 || s.DriverFaults != 0 {
			t.Errorf("at the end: %+v", s)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		page := open(t, 4096, 1)[0]
		d.Unmap(mapPage(t, d, page))
		m := d.NewMapper()
		for range 600 { // until the magazines are there
			iova, _ := m.MapRange(page, 100, 64, ToDevice)
			m.Unmap(iova)
		}
		allocs := testing.AllocsPerRun(100, func() {
			iova, _ := d.Map(page)
			d.Reach(iova, 64, true)
			d.Reach(0, 64, true)
			d.SyncForCPU(iova, 64)
			d.SyncForDevice(iova, 64)
			d.CheckRead(iova, 64)
			d.Unmap(iova)
			iova, _ = m.MapRange(page, 100, 64, ToDevice)
			m.Unmap(iova)
			m.Tick(0)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

func TestSyncOfOneMemoryIsFree(t *testing.T) {
	d := New(Config{})
	d.SyncForCPU(0, 1) // not even looked at
	d.SyncForDevice(0, 1)
	if s := d.Stats(); s != (Stats{}) || !d.CheckRead(0, 1) {
		t.Errorf("%+v", s)
	}
}
