package pagepool

import (
	"sync"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// One owner hands out references, four goroutines read the pages and return
// them, on the heap, where the race detector sees it: no count is touched by
// two sides (facts/mlx5e.md 12, bug 59).
func TestReturningGoroutines(t *testing.T) {
	const refs, rounds, users = 4, 400, 4
	p, r := newPool(t, Config{RefsPerPage: refs, Domain: dma.New(dma.Config{})}, 4096, 64)
	lent := make(chan []mem.Ref, 64)
	var wg sync.WaitGroup
	var read [users]int
	for u := range users {
		wg.Go(func() {
			for pages := range lent {
				for _, page := range pages {
					read[u] += int(page.Bytes(0, 1)[0])
				}
				p.Return(pages)
			}
		})
	}
	var handed int
	dst := make([]mem.Ref, 16)
	for range rounds {
		p.Drain()
		got := dst[:p.Alloc(dst)]
		for _, page := range got {
			page.Bytes(0, 1)[0] = 1
		}
		for range refs {
			lent <- append([]mem.Ref(nil), got...)
		}
		putAllBut(p, got, refs)
		handed += refs * len(got)
		law(t, p, r)
	}
	err := p.Close() // while the users still return
	close(lent)
	wg.Wait()
	if again := p.Close(); again != nil {
		t.Errorf("closed twice: %v, then %v", err, again)
	}
	law(t, p, r)
	if n := read[0] + read[1] + read[2] + read[3]; n != handed {
		t.Errorf("%d references read, %d handed out", n, handed)
	}
	if s := p.Stats(); s.BadPut != 0 || s.ReturnOverflow != 0 || r.Free() != 64 {
		t.Errorf("%+v, %d free pages", s, r.Free())
	}
}

// Two pools on two goroutines share region and domain; one closes with pages
// out while the other goes on.
func TestSharedRegion(t *testing.T) {
	p, r := newPool(t, Config{}, 4096, 256)
	q, err := New(Config{Region: r, Domain: p.domain, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, pool := range []*Pool{p, q} {
		wg.Go(func() {
			dst := make([]mem.Ref, 100)
			for range 20 {
				putAll(pool, dst[:pool.Alloc(dst)])
			}
			n := pool.Alloc(dst[:5])
			if err := pool.Close(); (err != nil) != (n > 0) {
				t.Errorf("close with %d pages out: %v", n, err)
			}
			putAll(pool, dst[:n])
		})
	}
	wg.Wait()
	if s := p.domain.Stats(); s.Maps != s.Unmaps || s.DriverFaults != 0 || r.Free() != 256 {
		t.Errorf("%+v, %d pages free", s, r.Free())
	}
}

func TestNoAllocations(t *testing.T) {
	p, _ := newPool(t, Config{}, 4096, 256)
	pages := make([]mem.Ref, 200)
	allocs := testing.AllocsPerRun(20, func() {
		p.Alloc(pages) // cache, ring and source
		putAll(p, pages[:150])
		putAllBut(p, pages[150:], 1)
		p.Return(pages[150:])
		p.Drain()
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
