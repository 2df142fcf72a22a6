package pagepool

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// expect compares all counters but Inflight, which law covers.
func expect(t *testing.T, p *Pool, step string, want Stats) {
	t.Helper()
	got := p.Stats()
	want.Inflight = got.Inflight
	if got != want {
		t.Errorf("%s:\n got %+v\nwant %+v", step, got, want)
	}
}

func putAll(p *Pool, pages []mem.Ref) {
	putAllBut(p, pages, 0)
}

// putAllBut leaves n references of each page with its users.
func putAllBut(p *Pool, pages []mem.Ref, n int32) {
	for _, page := range pages {
		p.Put(page, Bias-n)
	}
}

// A walk over every path of facts/mlx5e.md 5.2 and 5.3 with order-0 pages.
func TestCountersOrderZero(t *testing.T) {
	p, r := newPool(t, Config{Size: 4}, 4096, 256)
	var want Stats
	pages := alloc(t, p, 1)
	want.AllocEmpty, want.AllocSlow = 1, 1
	expect(t, p, "first page", want)
	if got := p.Books(); got != (Books{Free: 63, Out: 1, Total: 64}) {
		t.Errorf("a bulk of 64: books %+v", got)
	}

	pages = append(pages, alloc(t, p, 63)...)
	want.AllocFast = 63
	expect(t, p, "the rest of the bulk", want)

	pages = append(pages, alloc(t, p, 70)...) // 64 and 6 of the next two bulks
	want.AllocEmpty, want.AllocSlow, want.AllocFast = 3, 3, 63+63+5
	expect(t, p, "two bulks in one call", want)
	law(t, p, r)

	putAll(p, pages[:70]) // the cache holds 58: 70 more fill it exactly
	want.RecycleCached = 70
	expect(t, p, "to the cache", want)

	putAll(p, pages[70:74]) // the ring holds 4
	want.RecycleCacheFull, want.RecycleRing = 4, 4
	expect(t, p, "to the ring", want)

	putAll(p, pages[74:76])
	want.RecycleCacheFull, want.RecycleRingFull = 6, 2
	expect(t, p, "ring full", want)
	law(t, p, r)

	pages = append(pages[76:], alloc(t, p, 129)...)
	want.AllocFast, want.AllocRefill = want.AllocFast+128, 1
	expect(t, p, "refill from the ring", want)
	pages = append(pages, alloc(t, p, 4)...)
	want.AllocFast, want.AllocEmpty, want.AllocSlow = want.AllocFast+3, 4, 4
	expect(t, p, "what the ring gave, then slow", want)
	law(t, p, r)

	rest := make([]mem.Ref, 256)
	n := p.Alloc(rest)
	if n != 256-len(pages) || r.Free() != 0 {
		t.Errorf("%d more pages, %d left", n, r.Free())
	}
	empty := p.Stats().AllocEmpty
	if got := p.Alloc(rest[n:][:1]); got != 0 {
		t.Errorf("%d pages from an empty region", got)
	}
	want = p.Stats()
	want.AllocEmpty = empty + 1
	expect(t, p, "total failure counts only empty", want)
	law(t, p, r)
}

func TestRefillTakes64(t *testing.T) {
	p, _ := newPool(t, Config{}, 4096, 300)
	pages := alloc(t, p, 256)
	putAll(p, pages) // 128 to the cache, 128 to the ring
	before := p.Stats()
	alloc(t, p, 128+1)
	s := p.Stats()
	if s.AllocRefill-before.AllocRefill != 1 || p.waiting != 64 || p.cached != 63 {
		t.Errorf("%d refills, %d left in the ring, %d in the cache, want 1, 64, 63",
			s.AllocRefill-before.AllocRefill, p.waiting, p.cached)
	}
}

// The ring is first in first out, also where it wraps.
func TestRingOrder(t *testing.T) {
	p, r := newPool(t, Config{Size: 5}, 4096, 64)
	pages := alloc(t, p, 64)
	for round := range 4 {
		for _, page := range pages[:3] {
			p.Put(page, Bias-1)
			p.Return([]mem.Ref{page})
		}
		p.Drain()
		got := alloc(t, p, 3) // the cache hands the last one out first
		if got[0] != pages[2] || got[1] != pages[1] || got[2] != pages[0] {
			t.Errorf("round %d: ring gave %v, want %v from behind", round, got, pages[:3])
		}
		law(t, p, r)
	}
}

// What others returned is there for an Alloc that finds the cache empty, also
// if nobody drained.
func TestAllocDrains(t *testing.T) {
	p, r := newPool(t, Config{}, 4096, 2)
	pages := alloc(t, p, 2)
	putAllBut(p, pages, 1)
	p.Return(pages)
	if b := p.Books(); b.Out != 2 {
		t.Errorf("%d pages out while their references wait, want 2", b.Out)
	}
	alloc(t, p, 2)
	if s := p.Stats(); s.RecycleRing != 2 || s.AllocRefill != 1 {
		t.Errorf("%+v", s)
	}
	law(t, p, r)
}

func TestCountersHighOrder(t *testing.T) {
	for _, size := range []int{16384, 65536} {
		p, r := newPool(t, Config{}, size, 8)
		pages := alloc(t, p, 8)
		want := Stats{AllocSlowHighOrder: 8, AllocEmpty: 8}
		expect(t, p, "one at a time", want)
		putAll(p, pages)
		alloc(t, p, 8)
		want.RecycleCached, want.AllocFast = 8, 8
		expect(t, p, "recycled", want)
		law(t, p, r)
	}
}

// Renew counts as the Put and the Alloc that it stands for. Who still has a
// reference keeps the page, and it comes home later.
func TestRenew(t *testing.T) {
	p, r := newPool(t, Config{}, 4096, 64)
	pages := alloc(t, p, 2)
	want := p.Stats()
	slots := []Slot{{Page: pages[0], Given: 1, IOVA: 1}, {}, {Page: pages[1], IOVA: 2}}
	if n := p.Renew(slots); n != 2 || slots[2] != (Slot{Page: pages[1], IOVA: 2}) ||
		slots[0] != (Slot{}) {
		t.Errorf("%d empty: %+v", n, slots)
	}
	if pages[0].Meta().Refs != 1 || pages[1].Meta().Refs != Bias || p.Books().Out != 2 {
		t.Errorf("%+v, %+v, %+v", pages[0].Meta(), pages[1].Meta(), p.Books())
	}
	want.RecycleCached, want.AllocFast = 1, want.AllocFast+1
	expect(t, p, "renewed", want)
	p.Put(pages[0], 1)
	p.PutSlots(slots)
	want.RecycleCached += 2
	expect(t, p, "home", want)
	law(t, p, r)
	if check.On {
		return
	}
	if p.Renew([]Slot{{Page: pages[0]}}) != 1 {
		t.Error("a free page was renewed")
	}
	want.BadPut++
	expect(t, p, "bad", want)
}

// A page of another node is released; the pages behind it stay in the ring.
func TestWaive(t *testing.T) {
	for first := range 3 { // place of the foreign page in the ring
		p, r := newPool(t, Config{}, 4096, 64)
		pages := alloc(t, p, 64)
		want := p.Stats()
		pages[first].Meta().Node = 1
		putAllBut(p, pages[:3], 1)
		p.Return(pages[:3])
		p.Drain()
		got := alloc(t, p, 1)
		want.RecycleRing, want.AllocWaive = 3, 1
		if first == 0 { // nothing came from the ring: the released page, afresh
			want.AllocSlow++
			if got[0] != pages[0] {
				t.Errorf("got %#x, want the only free page %#x", got[0], pages[0])
			}
		} else {
			want.AllocRefill++
		}
		expect(t, p, "waive", want)
		if p.waiting != 2-first {
			t.Errorf("%d pages left in the ring, want %d", p.waiting, 2-first)
		}
		law(t, p, r)
	}
}

func TestConfig(t *testing.T) {
	d := dma.New(dma.Config{})
	region := func(size, pages int) *mem.Region {
		r, err := mem.Open(mem.Config{PageBytes: size, Pages: pages})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	small := region(4096, 4)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "Region and Domain"},
		{Config{Region: small}, "Region and Domain"},
		{Config{Region: region(640, 4), Domain: d}, "640 bytes"},
		{Config{Region: region(12288, 4), Domain: d}, "12288 bytes"},
		{Config{Region: small, Domain: d, Size: -1}, "Size is -1"},
		{Config{Region: small, Domain: d, RefsPerPage: Bias}, "RefsPerPage is 65535"},
		{Config{Region: small, Domain: d, RefsPerPage: -1}, "RefsPerPage is -1"},
		{Config{Region: small, Domain: d, Node: -1}, "Node is -1"},
		{Config{Region: region(4096, 20000), Domain: d, RefsPerPage: Bias - 1}, "at most"},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	sizes := map[int]int{0: 1024, 7: 7, 16384: 16384, 16385: 16384, 1 << 20: 16384}
	for size, want := range sizes {
		p, err := New(Config{Region: small, Domain: d, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Effective()
		if got.Size != want || got.RefsPerPage != 64 || got.Provider != small {
			t.Errorf("Size %d: effective %+v, want %d", size, got, want)
		}
		p.Close()
	}
}

func TestNumbers(t *testing.T) {
	p, r := newPool(t, Config{}, 4096, 1)
	page := alloc(t, p, 1)[0]
	if got := page.Meta().Pool; got != p.Number() || got == 0 {
		t.Errorf("page carries %d, the pool is %d", got, p.Number())
	}
	p.Close() // with a page out: the number stays taken
	numbers.last = p.Number() - 1
	q, err := New(Config{Region: r, Domain: p.domain})
	if err != nil || q.Number() == p.Number() {
		t.Errorf("a new pool has the number of one whose page is out: %v", err)
	}
	q.Close()
	p.Put(page, Bias)
	numbers.last = p.Number() - 1
	if q, err = New(Config{Region: r, Domain: p.domain}); err != nil || q.Number() != p.Number() {
		t.Errorf("number %d was not freed: %v", p.Number(), err)
	}
	page = alloc(t, q, 1)[0]
	bad(t, p, "page of the next pool with that number", func() { p.Return([]mem.Ref{page}) })
	q.Put(page, Bias)
	q.Close()

	numbers.last = 65535
	if q, err = New(Config{Region: r, Domain: p.domain}); err != nil || q.Number() == 0 {
		t.Errorf("number 0 was given: %v", err)
	}
	q.Close()

	saved := numbers.used
	defer func() { numbers.used = saved }()
	for i := range numbers.used {
		numbers.used[i] = true
	}
	if _, err := New(Config{Region: r, Domain: p.domain}); !errors.Is(err, ErrTooManyPools) {
		t.Errorf("without a free number: %v", err)
	}
}
