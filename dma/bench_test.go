package dma

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// In turn is what a queue of one packet does; 64 at a time what a busy one
// does, where the addresses of a batch go through the caches together.
func BenchmarkMapUnmap(b *testing.B) {
	for name, cfg := range modes {
		for _, batch := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, batch), func(b *testing.B) {
				m := New(cfg).NewMapper()
				pages := open(b, 4096, batch)
				var iovas [64]uint64
				n := 0
				for b.Loop() {
					for i, page := range pages {
						iovas[i], _ = m.MapRange(page, 256, 1024, ToDevice)
					}
					for i := range pages {
						m.Unmap(iovas[i])
					}
					n += batch
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/map")
			})
		}
	}
}

// The same with a device on another thread, which keeps the sets of the IOTLB
// and the entries of the table in its caches.
func BenchmarkMapUnmapBesideDevice(b *testing.B) {
	for name, cfg := range modes {
		b.Run(name, func(b *testing.B) {
			d := New(cfg)
			m := d.NewMapper()
			page := open(b, 4096, 1)[0]
			var posted atomic.Uint64
			var device sync.WaitGroup
			device.Go(func() {
				for iova := posted.Load(); iova != 1; iova = posted.Load() {
					d.Reach(iova, 64, false)
				}
			})
			for b.Loop() {
				iova, _ := m.MapRange(page, 256, 1024, ToDevice)
				posted.Store(iova)
				m.Unmap(iova)
			}
			posted.Store(1)
			device.Wait()
		})
	}
}

// Hit is one page over and over, miss more pages than the IOTLB holds.
func BenchmarkReach(b *testing.B) {
	for name, cfg := range modes {
		for what, pages := range map[string]int{"hit": 1, "miss": 1024} {
			if what == "miss" && cfg.Mode != Strict {
				continue
			}
			b.Run(name+"/"+what, func(b *testing.B) {
				d := New(cfg)
				var iovas []uint64
				for _, page := range open(b, 4096, pages) {
					iovas = append(iovas, mapPage(b, d, page))
				}
				i := 0
				for b.Loop() {
					if _, ok := d.Reach(iovas[i&(pages-1)], 64, true); !ok {
						b.Fatal("fault")
					}
					i++
				}
				s := d.Stats()
				b.ReportMetric(float64(s.TLBMisses)/float64(i), "misses/op")
			})
		}
	}
}

// An IOMMU that takes 500 ns to acknowledge.
func BenchmarkMapUnmapSlowIOMMU(b *testing.B) {
	for _, mode := range []Mode{Strict, Lazy} {
		b.Run(mode.String(), func(b *testing.B) {
			m := New(Config{Mode: mode, InvalidateNs: 500}).NewMapper()
			page := open(b, 4096, 1)[0]
			for b.Loop() {
				iova, _ := m.MapRange(page, 256, 1024, ToDevice)
				m.Unmap(iova)
			}
		})
	}
}

// What an address costs that the caches do not have.
func BenchmarkAddressFromTree(b *testing.B) {
	m := New(Config{Mode: Strict}).NewMapper()
	var held [1024]uint32
	for i := range held {
		held[i], _ = m.d.iommu.space.take(1 + uint32(i%3))
	}
	i := 0
	for b.Loop() {
		n := 1 + uint32(i%3)
		m.d.iommu.space.give(held[i%1023], n)
		held[i%1023], _ = m.d.iommu.space.take(n)
		i++
	}
}

func BenchmarkFlush(b *testing.B) {
	d := New(Config{Mode: Lazy})
	for b.Loop() {
		d.flush()
	}
}

func BenchmarkSyncPassthrough(b *testing.B) {
	d := New(Config{})
	iova := mapPage(b, d, open(b, 4096, 1)[0])
	for b.Loop() {
		d.SyncForCPU(iova, 64)
	}
}
