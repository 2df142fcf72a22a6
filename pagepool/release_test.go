package pagepool

import (
	"strings"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// 256 strides of one 64 KiB page have 256 users (facts/mlx5e.md 12, bug 24):
// whoever drops the last reference brings the page home, and nobody before.
func TestManyReferencesOfOnePage(t *testing.T) {
	const users = 256
	back := func(p *Pool, page mem.Ref, remote bool) {
		if remote {
			p.Return([]mem.Ref{page})
			p.Drain()
		} else {
			p.Put(page, 1)
		}
	}
	for _, size := range []int{4096, 16384, 65536} {
		for _, driverLast := range []bool{false, true} {
			for _, remote := range []bool{false, true} {
				p, r := newPool(t, Config{RefsPerPage: users}, size, 1)
				page := alloc(t, p, 1)[0]
				if !driverLast {
					p.Put(page, Bias-users)
				}
				for i := range users {
					if p.Books().Out != 1 {
						t.Fatalf("the page is home with %d users left", users-i)
					}
					back(p, page, remote)
				}
				if driverLast {
					p.Put(page, Bias-users)
				}
				if p.Books() != (Books{Free: 1, Total: 1}) {
					t.Errorf("books %+v", p.Books())
				}
				ring := p.Stats().RecycleRing == 1
				if ring != (remote && !driverLast) {
					t.Errorf("driver last %v, remote %v: by the ring %v", driverLast, remote, ring)
				}
				law(t, p, r)
			}
		}
	}
}

// The poison of a check build and of the domain must not reach a user, and a
// recycled page is the device's again.
func TestRecycledPageIsTheDevices(t *testing.T) {
	p, _ := newPool(t, Config{}, 16384, 1)
	page := alloc(t, p, 1)[0]
	iova := page.Meta().IOVA
	p.domain.SyncForCPU(iova, 16384)
	p.Put(page, Bias)
	if p.domain.CheckRead(iova, 1) || p.domain.CheckRead(iova+16383, 1) {
		t.Error("the CPU may read a page that came home")
	}
	if again := alloc(t, p, 1)[0]; again != page || page.Meta().IOVA != iova {
		t.Error("a recycled page was mapped anew")
	}
	if s := p.domain.Stats(); s.Maps != 1 || s.Unmaps != 0 {
		t.Errorf("%d maps, %d unmaps", s.Maps, s.Unmaps)
	}
}

func TestBadReturns(t *testing.T) {
	p, r := newPool(t, Config{Size: 1}, 4096, 200)
	other, err := New(Config{Region: r, Domain: p.domain})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	pages := alloc(t, p, 128+3)
	page := pages[0]
	bad(t, p, "0 references", func() { p.Put(page, 0) })
	bad(t, p, "negative", func() { p.Put(page, -1) })
	bad(t, p, "most negative", func() { p.Put(page, -1<<31) })
	bad(t, p, "more than there are", func() { p.Put(page, Bias+1) })
	bad(t, other, "page of another pool", func() { other.Put(page, 1) })
	bad(t, other, "page of another pool, by the ring", func() {
		other.Return([]mem.Ref{page})
		other.Drain()
	})
	bad(t, p, "page of no pool", func() { p.Put(freePage(t, r), 1) })
	if got := page.Meta().Refs; got != Bias {
		t.Errorf("%d references left, want %d", got, Bias)
	}
	p.Put(page, Bias)
	bad(t, p, "twice, in the cache", func() { p.Put(page, 1) })
	bad(t, p, "twice, by Return", func() { p.Return([]mem.Ref{page}); p.Drain() })
	putAll(p, pages[1:129])
	bad(t, p, "twice, in the ring", func() { p.Put(pages[128], Bias) })
	p.Put(pages[129], Bias) // the ring is full: released
	bad(t, p, "twice, released", func() { p.Put(pages[129], Bias) })

	// Two users, three returns: the page stays out, and nobody gets it.
	leak := pages[130]
	for range 3 {
		p.Put(leak, 1)
	}
	bad(t, p, "the owner's part behind a double return", func() { p.Put(leak, Bias-2) })
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "1 pages not returned") {
		t.Errorf("close: %v", err)
	}
}

func freePage(t *testing.T, r *mem.Region) mem.Ref {
	t.Helper()
	var page [1]mem.Ref
	if r.Alloc(page[:]) != 1 {
		t.Fatal("no free page")
	}
	r.Release(page[0])
	return page[0]
}

// Flush, flush, close must release once (facts/mlx5e.md 12, bugs 29 and 31).
func TestFlushFlushClose(t *testing.T) {
	p, r := newPool(t, Config{}, 4096, 64)
	pages := alloc(t, p, 64)
	putAll(p, pages)
	for _, page := range pages {
		bad(t, p, "second flush", func() { p.Put(page, Bias) })
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		law(t, p, r)
	}
	if s := p.domain.Stats(); s.Unmaps != 64 || r.Free() != 64 {
		t.Errorf("%d unmaps, %d free pages, want 64 and 64", s.Unmaps, r.Free())
	}
	if m := *pages[0].Meta(); m != (mem.Meta{}) {
		t.Errorf("a released page carries %+v", m)
	}
	bad(t, p, "behind close", func() { p.Put(pages[0], Bias) })
}

// A page that is out when the pool closes is unmapped there and then; its
// return does not touch the domain (facts/mlx5e.md 12, bugs 46 and 47).
func TestLateReturns(t *testing.T) {
	for name, cfg := range map[string]dma.Config{
		"passthrough": {}, "strict": {Mode: dma.Strict}, "poison": {Mode: dma.Bounce, Poison: true},
	} {
		p, r := newPool(t, Config{Domain: dma.New(cfg)}, 4096, 100)
		pages := alloc(t, p, 70)
		iova := pages[0].Meta().IOVA
		putAll(p, pages[3:])
		p.Put(pages[1], Bias-2)
		p.Return(pages[1:2]) // waits in the return ring when Close comes
		copy(pages[0].Bytes(0, 4), "held")
		err := p.Close()
		if err == nil || !strings.Contains(err.Error(), "3 pages not returned") {
			t.Errorf("%s: close: %v", name, err)
		}
		law(t, p, r)
		before := p.domain.Stats()
		if before.Maps != before.Unmaps {
			t.Errorf("%s: %d maps, %d unmaps", name, before.Maps, before.Unmaps)
		}
		if _, ok := p.domain.Reach(iova, 1, true); ok && cfg.Mode != dma.Passthrough {
			t.Error("the device still reaches a page behind Close")
		}
		before = p.domain.Stats()
		if string(pages[0].Bytes(0, 4)) != "held" {
			t.Errorf("%s: Close took the bytes from their user", name)
		}
		if p.Alloc(make([]mem.Ref, 1)) != 0 {
			t.Errorf("%s: a closed pool gives pages", name)
		}
		p.Put(pages[0], Bias)
		var wg sync.WaitGroup
		wg.Go(func() { p.Return(pages[1:2]) })
		wg.Go(func() { p.Put(pages[2], Bias) })
		wg.Wait()
		s := p.Stats()
		if s.RecycleReleasedRef != 3 || s.Inflight != 0 || r.Free() != 100 {
			t.Errorf("%s: %+v, %d free pages", name, s, r.Free())
		}
		if p.domain.Stats() != before {
			t.Errorf("%s: a late return touched the domain", name)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: second close: %v", name, err)
		}
		bad(t, p, "late and twice", func() { p.Return(pages[:1]) })
	}
}

func TestWriteToFreePageIsFound(t *testing.T) {
	p, _ := newPool(t, Config{}, 4096, 1)
	page := alloc(t, p, 1)[0]
	p.Put(page, Bias)
	page.Bytes(100, 1)[0] = 1
	defer func() {
		msg, _ := recover().(string)
		found := strings.Contains(msg, "byte 100") && strings.Contains(msg, "release_test.go")
		if check.On != found {
			t.Errorf("found %v: %q", found, msg)
		}
	}()
	p.Alloc(make([]mem.Ref, 1))
}

// A return ring that is too full is a bug of its users: counted, and the page
// stays out.
func TestReturnRingOverflow(t *testing.T) {
	p, r := newPool(t, Config{RefsPerPage: 1}, 4096, 2)
	pages := alloc(t, p, 2)
	func() {
		defer func() {
			if found := recover() != nil; found != check.On {
				t.Errorf("overflow asserted: %v", found)
			}
		}()
		p.Return([]mem.Ref{pages[0], pages[1], pages[0]})
	}()
	p.Drain()
	if s := p.Stats(); s.ReturnOverflow != 1 || s.BadPut != 0 {
		t.Errorf("%+v", s)
	}
	for _, page := range pages {
		if got := page.Meta().Refs; got != Bias-1 {
			t.Errorf("%d references, want %d", got, Bias-1)
		}
		p.Put(page, Bias-1)
	}
	law(t, p, r)
}
