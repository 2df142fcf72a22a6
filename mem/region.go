package mem

import (
	"errors"
	"fmt"
	"sync"
)

// Kind says where a region's memory comes from.
type Kind uint8

const (
	Auto Kind = iota // mapped: 2 MiB pages, else transparent huge pages, else plain
	Heap             // the Go heap, so that the race detector sees it
)

// Config describes a region.
type Config struct {
	PageBytes int // bytes in a page, a multiple of 64; 0 means 4096
	Pages     int // number of pages, at least 1
	Kind      Kind
	Node      int // NUMA node written to every Meta
}

// ErrTooManyRegions: 255 regions are open.
var ErrTooManyRegions = errors.New("mem: 255 regions are open; close one first")

// A Region is a run of pages in one mapping. Alloc and Free may be called by
// any goroutine.
type Region struct {
	id      uint8
	cfg     Config
	bytes   []byte
	meta    []Meta
	backing string
	unmap   func() error

	mu   sync.Mutex
	free []uint32 // last freed first
	used []uint64 // a bit a page: allocated
}

// Open makes a region. The caller closes it once no Ref into it is left.
func Open(cfg Config) (*Region, error) {
	if cfg.PageBytes == 0 {
		cfg.PageBytes = 4096
	}
	if cfg.PageBytes < 64 || cfg.PageBytes%64 != 0 {
		return nil, fmt.Errorf("mem: PageBytes is %d, want a multiple of 64", cfg.PageBytes)
	}
	if cfg.Pages < 1 || cfg.Pages > maxPages {
		return nil, fmt.Errorf("mem: Pages is %d, want 1 to %d", cfg.Pages, maxPages)
	}
	r := &Region{cfg: cfg}
	if err := r.allocate(cfg.PageBytes * cfg.Pages); err != nil {
		return nil, err
	}
	r.used = make([]uint64, (cfg.Pages+63)/64)
	r.free = make([]uint32, cfg.Pages)
	for i := range r.free {
		r.free[i] = uint32(cfg.Pages - 1 - i)
		r.meta[i].Node = uint16(cfg.Node)
	}
	if err := r.register(); err != nil {
		return nil, errors.Join(err, r.unmap())
	}
	return r, nil
}

// Close gives the memory back. A Ref into the region panics when it is used
// afterwards. Closing twice does nothing.
func (r *Region) Close() error {
	spacesMu.Lock()
	defer spacesMu.Unlock()
	if r.id == 0 {
		return nil
	}
	spaces[r.id] = space{}
	r.id = 0
	return r.unmap()
}

// Ref names page i of the region.
func (r *Region) Ref(i int) Ref { return Ref(r.id)<<pageBits | Ref(uint32(i)) }

// Pages is the number of pages.
func (r *Region) Pages() int { return r.cfg.Pages }

// PageBytes is the size of a page in bytes.
func (r *Region) PageBytes() int { return r.cfg.PageBytes }

// Backing says in words what holds the memory: "2 MiB pages", "transparent
// huge pages", "plain pages" or "heap".
func (r *Region) Backing() string { return r.backing }

// Free is the number of pages nobody owns.
func (r *Region) Free() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.free)
}

// Alloc fills dst with free pages as far as they last and reports how many.
// The caller owns them.
func (r *Region) Alloc(dst []Ref) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(dst), len(r.free))
	for i := range n {
		page := r.free[len(r.free)-1-i]
		r.used[page/64] |= 1 << (page % 64)
		dst[i] = r.Ref(int(page))
	}
	r.free = r.free[:len(r.free)-n]
	return n
}

// Release takes a page back. A page that is already free, or of another
// region, is a bug of the caller and panics.
func (r *Region) Release(ref Ref) {
	page := ref.Page()
	r.mu.Lock()
	defer r.mu.Unlock()
	if ref.Region() != r.id || page >= uint32(r.cfg.Pages) || r.used[page/64]>>(page%64)&1 == 0 {
		panic(fmt.Sprintf("mem: release of page %d of region %d, which is not allocated there",
			page, ref.Region()))
	}
	r.used[page/64] &^= 1 << (page % 64)
	r.free = append(r.free, page)
}
