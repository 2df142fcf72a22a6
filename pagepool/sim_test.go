package pagepool

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
)

// flaky is a provider that gives fewer pages than asked for, or none, and now
// and then one that cannot be mapped.
type flaky struct {
	*mem.Region
	rng *rand.Rand
}

func (f *flaky) Alloc(dst []mem.Ref) int {
	n := len(dst)
	if f.rng.IntN(3) == 0 {
		n = f.rng.IntN(n + 1)
	}
	n = f.Region.Alloc(dst[:n])
	if n > 0 && f.rng.IntN(4) == 0 {
		i := f.rng.IntN(n)
		f.Region.Release(dst[i])
		dst[i] = f.Ref(f.Pages())
	}
	return n
}

func (f *flaky) Release(page mem.Ref) {
	if int(page.Page()) < f.Pages() {
		f.Region.Release(page)
	}
}

// A holding is what the simulation has of one page.
type holding struct {
	page  mem.Ref
	tag   uint64 // written to the page: nobody else may write there
	users int    // references handed out and not yet given back
	given int    // references handed out in all
	owner bool   // the owner has not yet put its part
}

// A world is one run of the simulation.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	pool   *Pool
	region *mem.Region
	held   []*holding
	places map[mem.Ref]*holding
}

const simRefs = 8 // references a page

func newWorld(t *testing.T, rng *rand.Rand) *world {
	size := 4096 << (2 * rng.IntN(3))
	pages := 1 + rng.IntN(400)
	if size > 4096 {
		pages = 1 + rng.IntN(40)
	}
	r, err := mem.Open(mem.Config{PageBytes: size, Pages: pages, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	d := dma.New(dma.Config{Mode: dma.Mode(rng.IntN(2)), Poison: rng.IntN(2) == 0})
	p, err := New(Config{
		Region: r, Domain: d, Size: 1 + rng.IntN(200), RefsPerPage: simRefs,
		Provider: &flaky{r, rng},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, rng, p, r, nil, map[mem.Ref]*holding{}}
}

func (w *world) alloc() {
	dst := make([]mem.Ref, 1+w.rng.IntN(100))
	for _, page := range dst[:w.pool.Alloc(dst)] {
		m := page.Meta()
		if w.places[page] != nil || m.Refs != Bias || m.IOVA == 0 || m.Pool != w.pool.Number() {
			w.t.Fatalf("page %#x given: held %+v, record %+v", page, w.places[page], m)
		}
		if w.rng.IntN(50) == 0 {
			m.Node ^= 1 // it moves to another node, or back
		}
		h := &holding{page: page, tag: w.rng.Uint64(), owner: true}
		binary.NativeEndian.PutUint64(page.Bytes(64, 8), h.tag)
		w.held, w.places[page] = append(w.held, h), h
	}
}

// give takes references from some holdings: the pages to return.
func (w *world) give() []mem.Ref {
	var pages []mem.Ref
	for range min(len(w.held), 1+w.rng.IntN(60)) {
		h := w.held[w.rng.IntN(len(w.held))]
		if got := binary.NativeEndian.Uint64(h.page.Bytes(64, 8)); got != h.tag {
			w.t.Fatalf("page %#x holds %#x, want %#x: two users", h.page, got, h.tag)
		}
		for h.owner && h.given < simRefs && w.rng.IntN(2) == 0 {
			h.given++
			h.users++
		}
		if h.users > 0 {
			h.users--
			pages = append(pages, h.page)
		}
	}
	return pages
}

// forget drops the holdings that have nothing left.
func (w *world) forget() {
	kept := w.held[:0]
	for _, h := range w.held {
		if h.owner || h.users > 0 {
			kept = append(kept, h)
		} else {
			delete(w.places, h.page)
		}
	}
	w.held = kept
}

// putOwned puts the owner's part of a holding.
func (w *world) putOwned(h *holding) {
	if h.owner {
		h.owner = false
		w.pool.Put(h.page, Bias-int32(h.given))
	}
}

// renewOwned puts the owner's part of a holding, or starts it anew.
func (w *world) renewOwned(h *holding) {
	if !h.owner {
		return
	}
	slots := []Slot{{Page: h.page, Given: uint32(h.given)}, {}}
	if empty := w.pool.Renew(slots); empty == 2 {
		h.owner = false
		return
	} else if empty != 1 || slots[0] != (Slot{Page: h.page}) {
		w.t.Fatalf("page %#x: %d slots empty, %+v", h.page, empty, slots)
	}
	if m := h.page.Meta(); h.users > 0 || m.Refs != Bias || m.IOVA == 0 {
		w.t.Fatalf("page %#x renewed with %d users: %+v", h.page, h.users, m)
	}
	h.given = 0
	binary.NativeEndian.PutUint64(h.page.Bytes(64, 8), h.tag) // -tags check wrote over it
}

func (w *world) step() {
	switch w.rng.IntN(7) {
	case 0, 1:
		w.alloc()
	case 2:
		for range min(len(w.held), w.rng.IntN(80)) {
			w.putOwned(w.held[w.rng.IntN(len(w.held))])
		}
	case 3:
		for _, page := range w.give() {
			w.pool.Put(page, 1)
		}
	case 4:
		pages, half := w.give(), 0
		if len(pages) > 0 {
			half = w.rng.IntN(len(pages))
		}
		var wg sync.WaitGroup
		wg.Go(func() { w.pool.Return(pages[:half]) })
		wg.Go(func() { w.pool.Return(pages[half:]) })
		wg.Wait()
	case 5:
		w.pool.Drain()
	case 6:
		for range min(len(w.held), w.rng.IntN(80)) {
			w.renewOwned(w.held[w.rng.IntN(len(w.held))])
		}
	}
	w.forget()
	law(w.t, w.pool, w.region)
}

// settle gives everything back and asserts that nothing is left behind.
func (w *world) settle() {
	closeFirst := w.rng.IntN(2) == 0
	if closeFirst {
		w.pool.Drain()
		if err := w.pool.Close(); (err != nil) != (len(w.held) > 0) {
			w.t.Fatalf("close with %d pages held: %v", len(w.held), err)
		}
	}
	for _, h := range w.held {
		w.putOwned(h)
		for range h.users {
			w.pool.Return([]mem.Ref{h.page})
		}
		law(w.t, w.pool, w.region)
	}
	if err := w.pool.Close(); err != nil {
		w.t.Fatal(err)
	}
	law(w.t, w.pool, w.region)
	s := w.pool.Stats()
	if w.region.Free() != w.region.Pages() || s.BadPut != 0 || s.ReturnOverflow != 0 {
		w.t.Fatalf("%d of %d pages free, %+v", w.region.Free(), w.region.Pages(), s)
	}
	if err := w.region.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// Random use by one owner and other goroutines, the law after every step.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for run := range testenv.Seeds(50) {
		w := newWorld(t, testenv.Rand(seed, uint64(run)))
		for range 100 {
			w.step()
			if t.Failed() {
				t.Fatalf("run %d", run)
			}
		}
		w.settle()
	}
}
