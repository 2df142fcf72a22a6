package dma

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-net/millrace/mem"
)

// Two devices read an address without pause, across its Unmap: no access that
// begins behind Unmap succeeds, whatever walk was under way. Seen by the race
// detector, too: the driver writes to the page behind Unmap.
func TestNoAccessBehindUnmap(t *testing.T) {
	rounds := uint64(2000)
	if testing.Short() {
		rounds = 300
	}
	for _, cfg := range []Config{
		{Mode: Strict}, {Mode: Strict, TLBEntries: 1}, {Mode: Bounce}, {Mode: Bounce, Poison: true},
	} {
		w := &watch{d: New(cfg)}
		w.ended.Store(noRound)
		m := w.d.NewMapper()
		var wg sync.WaitGroup
		for dev := range w.seen {
			wg.Go(func() { w.device(t, dev) })
		}
		w.drive(t, m, open(t, 4096, 8), rounds)
		w.round.Store(noRound)
		wg.Wait()
		m.Close()
		if s := w.d.Stats(); s.Maps != rounds || s.Unmaps != rounds || s.DriverFaults != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// A watch is what driver and devices tell each other. round is odd while iova
// is mapped.
type watch struct {
	d                  *Domain
	iova, round, ended atomic.Uint64
	seen               [2]atomic.Uint64 // the last round each device used
}

const noRound = ^uint64(0)

func (w *watch) device(t *testing.T, dev int) {
	for n, r := 0, w.round.Load(); r != noRound; n, r = n+1, w.round.Load() {
		behind := w.ended.Load() == r
		_, ok := w.d.Reach(w.iova.Load(), 64, false)
		if ok && behind && w.ended.Load() == r { // and it is not the next round yet
			t.Errorf("%s: access behind Unmap", w.d.mode)
		}
		if ok || behind {
			w.seen[dev].Store(r)
		}
		if n%64 == 0 {
			runtime.Gosched()
		}
	}
}

// await waits until both devices used round r.
func (w *watch) await(r uint64) {
	for w.seen[0].Load() != r || w.seen[1].Load() != r {
		runtime.Gosched()
	}
}

func (w *watch) drive(t *testing.T, m *Mapper, pages []mem.Ref, rounds uint64) {
	for i := range rounds {
		page := pages[i%8]
		w.ended.Store(noRound)
		at, err := m.MapRange(page, 0, 64, ToDevice)
		if err != nil {
			t.Fatal(err)
		}
		w.iova.Store(at)
		w.round.Store(2*i + 1)
		if i%4 == 0 {
			w.await(2*i + 1) // else the first look-up may run into the Unmap
		}
		m.Unmap(at)
		w.round.Store(2*i + 2)
		w.ended.Store(2*i + 2)
		page.Bytes(0, 1)[0]++
		w.await(2*i + 2)
	}
}

// Four Mappers map and unmap each other's ranges in a small space, with
// flushes, timers and reclaiming under way, while a device uses whatever
// there is: no address is ever given to two.
func TestMappersTogether(t *testing.T) {
	for _, mode := range []Mode{Strict, Lazy, Bounce} {
		d := small(mode, 700)
		pages := open(t, 65536, 4)
		posted := make(chan uint64, 64) // address, granules above bit 48
		var taken sync.Map              // granule to bool
		var wg, device sync.WaitGroup
		var stop atomic.Bool
		device.Go(func() {
			for !stop.Load() {
				for g := lastIOVA/granule - 700; g < lastIOVA/granule; g += 13 {
					d.Reach(uint64(g)*granule, 64, false)
				}
				d.Stats()
			}
		})
		for who := range uint32(4) {
			wg.Go(func() {
				m := d.NewMapper()
				defer m.Close()
				for i := range uint32(1500) {
					n := 1 + (i*7919+who)%20000
					iova, err := m.MapRange(pages[who], 0, n, ToDevice)
					if err != nil {
						m.Tick(int64(i) * 1e6)
						continue
					}
					for g := iova / granule; g <= (iova+uint64(n)-1)/granule; g++ {
						if _, other := taken.LoadOrStore(g, who); other {
							t.Errorf("%s: granule %#x belongs to two", mode, g)
						}
					}
					posted <- iova | uint64((n-1)/granule)<<48
					old := <-posted
					iova = old & (1<<48 - 1)
					for k := range old>>48 + 1 {
						taken.Delete(iova/granule + k)
					}
					m.Unmap(iova)
				}
			})
		}
		wg.Wait()
		stop.Store(true)
		device.Wait()
		if s := d.Stats(); s.Maps != s.Unmaps || s.DriverFaults != 0 || s.Maps < 1000 {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}
