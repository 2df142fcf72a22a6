package pagepool

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// Bias is the number of references on a page fresh from Alloc: more than its
// users can ever hold, so that none of them drops the last one before the
// owner does (MLX5E_PAGECNT_BIAS_MAX, facts/mlx5e.md 3.8).
const Bias = 65535

// Numbers of facts/mlx5e.md 5.1.
const (
	cacheSize   = 128
	cacheRefill = 64
	defaultSize = 1024
	maxSize     = 16384
	slowBulk    = 64
	orderZero   = 4096 // bytes; larger pages come one at a time
)

// Values of mem.Meta.State.
const (
	StateNone uint8 = iota // of no pool
	StateFree              // in the cache or the ring
	StateOut               // with its users
)

// Config describes a pool. Region and Domain are required.
type Config struct {
	Region      *mem.Region // pages of a power of two from 4 to 64 KiB
	Domain      *dma.Domain
	Size        int      // pages in the ring; 0 means 1024, above 16384 means 16384
	RefsPerPage int      // most references handed out of a page; 0 means one in 64 bytes
	Provider    Provider // where pages come from; nil means Region
	Node        int      // NUMA node; a page of another one is released, not reused
}

// A Provider is a source of pages for a pool, all of them of the pool's
// Region. The owner of the pool calls Alloc; Release may come from any
// goroutine once the pool is closed. Neither may call the pool.
type Provider interface {
	// Alloc gives up to len(dst) pages and reports how many. 0 is an ordinary
	// failure: the pool does not look for memory elsewhere.
	Alloc(dst []mem.Ref) int
	// Release takes a page back, unmapped.
	Release(page mem.Ref)
}

// A Pool belongs to the goroutine that allocates from it; other goroutines
// may only call Return.
type Pool struct {
	// Hot: every page.
	owner     uint16 // number; 0 once the pool is closed, which no page matches
	cached    int
	cache     [cacheSize]mem.Ref
	stats     Stats // Inflight and ReturnOverflow are filled in by Stats
	domain    *dma.Domain
	pageBytes uint32

	// Warm: once per 64 pages.
	ring    []mem.Ref
	first   int // oldest page of the ring
	waiting int // pages in the ring
	total   int // pages taken from the source and not given back
	source  Provider
	bulk    [slowBulk]mem.Ref
	node    uint16

	// Cold.
	mine   []bool // pages of the region that the pool has
	cfg    Config
	number uint16
	closed bool
	givers givers

	returns returns // the only part that other goroutines touch
}

func (c Config) withDefaults() (Config, error) {
	if c.Region == nil || c.Domain == nil {
		return c, fmt.Errorf("pagepool: Region and Domain are required")
	}
	size := c.Region.PageBytes()
	if size < 4<<10 || size > 64<<10 || size&(size-1) != 0 {
		return c, fmt.Errorf("pagepool: pages of %d bytes, want a power of two "+
			"from 4096 to 65536", size)
	}
	if c.Size == 0 {
		c.Size = defaultSize
	}
	if c.Size < 0 {
		return c, fmt.Errorf("pagepool: Size is %d, want 0 to %d", c.Size, maxSize)
	}
	c.Size = min(c.Size, maxSize)
	if c.RefsPerPage == 0 {
		c.RefsPerPage = size / 64
	}
	if c.RefsPerPage < 0 || c.RefsPerPage >= Bias {
		return c, fmt.Errorf("pagepool: RefsPerPage is %d, want 1 to %d", c.RefsPerPage, Bias-1)
	}
	if c.Region.Pages() > maxReturns/c.RefsPerPage {
		return c, fmt.Errorf("pagepool: %d pages of %d references, want at most %d in all",
			c.Region.Pages(), c.RefsPerPage, maxReturns)
	}
	if c.Node < 0 || c.Node > 1<<16-1 {
		return c, fmt.Errorf("pagepool: Node is %d, want 0 to %d", c.Node, 1<<16-1)
	}
	if c.Provider == nil {
		c.Provider = c.Region
	}
	return c, nil
}

// New makes an empty pool; its first Alloc gets pages. The caller closes it.
// The region outlives every page, also those that come back behind Close.
func New(cfg Config) (*Pool, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		cfg: cfg, domain: cfg.Domain, source: cfg.Provider, node: uint16(cfg.Node),
		pageBytes: uint32(cfg.Region.PageBytes()), ring: make([]mem.Ref, cfg.Size),
		mine: make([]bool, cfg.Region.Pages()), givers: newGivers(cfg.Region.Pages()),
	}
	p.returns.slots = make([]mem.Ref, ceilPow2(cfg.RefsPerPage*cfg.Region.Pages()))
	if p.number, err = takeNumber(); err != nil {
		return nil, err
	}
	p.owner = p.number
	return p, nil
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// Effective is the configuration in use: defaults filled in, Size clamped.
func (p *Pool) Effective() Config { return p.cfg }

// Number is what Meta.Pool holds for the pool's pages. It is not 0, and no
// other pool has it while a page of this one is out.
func (p *Pool) Number() uint16 { return p.number }
