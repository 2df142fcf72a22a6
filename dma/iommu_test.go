package dma

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Strict: what the IOTLB held faults as soon as Unmap is back.
func TestStrictForgetsAtOnce(t *testing.T) {
	d := New(Config{Mode: Strict})
	page := open(t, 4096, 1)[0]
	for i := range uint64(300) {
		iova := mapRange(t, d, page, 64, 100, ToDevice)
		if !reaches(t, d, iova, 100) {
			t.Fatal("not reached")
		}
		d.Unmap(iova)
		if reaches(t, d, iova, 100) {
			t.Fatalf("unmap %d: reached behind it", i)
		}
		s := d.Stats()
		if s.Invalidations != i+1 || s.Flushes != 0 || s.DeviceFaults != i+1 {
			t.Fatalf("unmap %d: %+v", i, s)
		}
	}
}

// Lazy: what the IOTLB held works until the flush, what it did not hold
// faults at once; and a stale address belongs to nobody else.
func TestLazyForgetsTogether(t *testing.T) {
	d := New(Config{Mode: Lazy})
	pages := open(t, 4096, 3)
	known := mapRange(t, d, pages[0], 0, 100, ToDevice)
	unknown := mapRange(t, d, pages[1], 0, 100, ToDevice)
	reaches(t, d, known, 100)
	d.Unmap(known)
	d.Unmap(unknown)
	pages[0].Bytes(0, 1)[0] = 0x77
	if b, ok := d.Reach(known, 100, false); !ok || b[0] != 0x77 {
		t.Error("the IOTLB forgot before the flush")
	}
	if reaches(t, d, unknown, 100) {
		t.Error("the table still has an entry that was taken out")
	}
	if got := mapRange(t, d, pages[2], 0, 100, ToDevice); got == known || got == unknown {
		t.Errorf("%#x was given out before its flush", got)
	}
	d.Tick(1e9)
	d.Tick(1e9 + flushNs - 1)
	if !reaches(t, d, known, 100) || d.Stats().Flushes != 0 {
		t.Error("flushed before 10 ms")
	}
	d.Tick(1e9 + flushNs)
	if reaches(t, d, known, 100) || d.Stats().Flushes != 1 {
		t.Errorf("not flushed after 10 ms: %+v", d.Stats())
	}
	got := map[uint64]bool{}
	for range 2 {
		got[mapRange(t, d, pages[2], 0, 100, ToDevice)] = true
	}
	if !got[known] || !got[unknown] {
		t.Errorf("%#x and %#x are not reused behind the flush: %v", known, unknown, got)
	}
	d.Tick(1e10)
	d.Tick(2e10)
	if s := d.Stats(); s.Flushes != 1 {
		t.Errorf("%d flushes with nothing to flush", s.Flushes)
	}
}

// The queue of 256 holds 255: a flush is the price of the 256th, the 511th and
// so on (facts/mlx5e.md 8.2).
func TestGoldenFlushQueue(t *testing.T) {
	d := New(Config{Mode: Lazy})
	page := open(t, 4096, 1)[0]
	for i := uint64(1); i <= 2000; i++ {
		d.Unmap(mapRange(t, d, page, 0, 1, ToDevice))
		want := (i - 1) / 255
		if s := d.Stats(); s.Flushes != want || s.Invalidations != want {
			t.Fatalf("unmap %d: %d flushes, %d invalidations, want %d",
				i, s.Flushes, s.Invalidations, want)
		}
	}
	if flushEntries != 256 || flushNs != 10e6 {
		t.Errorf("%d entries, %v ns", flushEntries, flushNs)
	}
}

// Each Mapper has a queue of its own, and a flush by one frees what waits in
// the others, the next time they look.
func TestFlushServesAllQueues(t *testing.T) {
	d := New(Config{Mode: Lazy})
	page := open(t, 4096, 1)[0]
	a, b := d.NewMapper(), d.NewMapper()
	turn := func(m *Mapper, n int) {
		for range n {
			iova, err := m.MapRange(page, 0, 1, ToDevice)
			if err != nil {
				t.Fatal(err)
			}
			m.Unmap(iova)
		}
	}
	turn(a, 200)
	turn(b, 256)
	if d.Stats().Flushes != 1 || a.queue.waiting() != 200 || b.queue.waiting() != 1 {
		t.Errorf("%d flushes, %d and %d wait", d.Stats().Flushes,
			a.queue.waiting(), b.queue.waiting())
	}
	turn(a, 1)
	if a.queue.waiting() != 1 || d.Stats().Flushes != 1 {
		t.Errorf("%d wait in the other queue", a.queue.waiting())
	}
	a.Close()
	b.Close()
	b.Close()
	if s := d.Stats(); s.Maps != 457 || s.Unmaps != 457 || s.Flushes != 3 {
		t.Errorf("at the end: %+v", s)
	}
	d.reclaim() // what is in the depot
	tree := &d.iommu.space.tree
	if free := tree.nodes[tree.root].longest; free != (lastIOVA-firstIOVA)/granule {
		t.Errorf("%d granules in one piece behind Close", free)
	}
}

// An address that was deferred while a flush was under way waits for the next
// one: the counter is that of flushes started.
func TestFlushUnderWay(t *testing.T) {
	d := New(Config{Mode: Lazy})
	m := d.NewMapper()
	iova, _ := m.MapRange(open(t, 4096, 1)[0], 0, 1, ToDevice)
	f := &d.iommu.flush
	f.started.Add(1) // another Mapper's flush has begun
	m.Unmap(iova)
	f.finished.Add(1)
	m.mu.Lock()
	m.reap()
	m.mu.Unlock()
	if m.queue.waiting() != 1 {
		t.Error("freed by a flush that began before it was unmapped")
	}
	d.Tick(0)
	d.Tick(flushNs)
	if m.queue.waiting() != 0 {
		t.Error("still waiting")
	}
}

// One Mapper maps, another unmaps: the addresses come back by the depot.
func TestAcrossMappers(t *testing.T) {
	d := New(Config{Mode: Strict})
	page := open(t, 4096, 1)[0]
	a, b := d.NewMapper(), d.NewMapper()
	seen := map[uint64]bool{}
	for range 20000 {
		iova, err := a.MapRange(page, 8, 8, ToDevice)
		if err != nil {
			t.Fatal(err)
		}
		seen[iova] = true
		b.Unmap(iova)
	}
	a.Tick(0)
	b.Tick(0)
	s := d.Stats()
	if s.Maps != 20000 || s.Unmaps != 20000 || len(seen) > 3*magazineSize+1 {
		t.Errorf("%d addresses in use for one range at a time: %+v", len(seen), s)
	}
	if s.CacheMisses != uint64(len(seen)) || s.CacheHits+s.CacheMisses != 20000 {
		t.Errorf("%d hits, %d misses", s.CacheHits, s.CacheMisses)
	}
}

// Two who unmap one address at the same time: one of them is at fault.
func TestUnmapTwiceByTwo(t *testing.T) {
	for _, mode := range []Mode{Strict, Lazy, Bounce} {
		d := New(Config{Mode: mode})
		page := open(t, 4096, 1)[0]
		a, b := d.NewMapper(), d.NewMapper()
		const rounds = 5000
		var posted, done atomic.Uint64
		var wg sync.WaitGroup
		wg.Go(func() {
			for range rounds {
				for posted.Load() == 0 {
					runtime.Gosched()
				}
				b.Unmap(posted.Swap(0))
				done.Add(1)
			}
		})
		for i := range uint64(rounds) {
			iova, _ := a.MapRange(page, 0, 1, ToDevice)
			posted.Store(iova)
			for posted.Load() != 0 {
				runtime.Gosched()
			}
			a.Unmap(iova)
			for done.Load() <= i {
				runtime.Gosched()
			}
		}
		wg.Wait()
		a.Close()
		b.Close()
		s := d.Stats()
		if s.Maps != rounds || s.Unmaps != rounds || s.DriverFaults != rounds {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}

// An access over two mappings whose addresses are neighbours: the bytes must
// be neighbours, too, and both mappings must allow it.
func TestAcrossMappings(t *testing.T) {
	for _, c := range []struct {
		low, high uint32 // offsets in the page
		dir       Dir    // of the higher one; the lower one is ToDevice
		want      bool
	}{
		{0, 4096, ToDevice, true}, {0, 4096, FromDevice, false}, {0, 8192, ToDevice, false},
		{4096, 0, ToDevice, false}, {4096, 4096, ToDevice, false},
	} {
		d := New(Config{Mode: Strict})
		page := open(t, 16384, 1)[0]
		high := mapRange(t, d, page, c.high, 4096, c.dir) // the space is used from its end
		low := mapRange(t, d, page, c.low, 4096, ToDevice)
		if low+4096 != high {
			t.Fatalf("mapped at %#x and %#x", low, high)
		}
		if got := reaches(t, d, low+4000, 200); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// InvalidateNs is paid for each unmap in Strict, for each flush in Lazy.
func TestInvalidationTakesItsTime(t *testing.T) {
	const wait = 200_000
	for mode, atLeast := range map[Mode]int{Strict: 256 * wait, Lazy: wait} {
		d := New(Config{Mode: mode, InvalidateNs: wait})
		page := open(t, 4096, 1)[0]
		start := time.Now()
		for range 256 {
			d.Unmap(mapRange(t, d, page, 0, 1, ToDevice))
		}
		took := time.Since(start)
		if took < time.Duration(atLeast)*9/10 || mode == Lazy && took > 128*wait {
			t.Errorf("%s: 256 unmaps took %v", mode, took)
		}
	}
}

func TestModeNames(t *testing.T) {
	for mode, want := range map[Mode]string{
		Passthrough: "passthrough", Strict: "strict", Lazy: "lazy", Bounce: "bounce",
		9: "dma.Mode(9)",
	} {
		if mode.String() != want {
			t.Errorf("%q, want %q", mode, want)
		}
	}
	if d := New(Config{Mode: 9}); d.mode != Passthrough {
		t.Error("an unknown mode is not Passthrough")
	}
}
