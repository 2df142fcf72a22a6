package tx

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// buffers are coherent memory that stays mapped, cut into equal buffers that are
// taken and given back in turn, from the first one on whenever nothing is in
// flight: it is warm. What is longer than a buffer takes several in a row,
// which lie in one page.
type buffers struct {
	mask    uint32 // buffers less one
	shift   uint8  // log2 of a buffer's bytes
	perPage uint8  // log2 of the buffers in a page
	pages   []bufPage
	region  *mem.Region
}

// A bufPage is a page of buffers as the CPU and as the device see it.
type bufPage struct {
	bytes []byte
	iova  uint64
}

type bufConfig struct {
	count int // a power of two
	bytes int // of a buffer
	kind  mem.Kind
}

// Pages of buffers: 64 KiB, so that few frames meet the end of one.
const (
	minBufPage = 4 << 10
	maxBufPage = 64 << 10
)

// open takes the memory and maps it.
func (f *buffers) open(cfg bufConfig, m *dma.Mapper) (err error) {
	total := cfg.count * cfg.bytes
	page := min(max(total, minBufPage), maxBufPage)
	f.region, err = mem.Open(mem.Config{
		PageBytes: page, Pages: max(1, total/page), Kind: cfg.kind,
	})
	if err != nil {
		return fmt.Errorf("tx: memory for %d buffers of %d bytes: %w", cfg.count, cfg.bytes, err)
	}
	f.mask = uint32(cfg.count) - 1
	f.shift = uint8(bits.TrailingZeros(uint(cfg.bytes)))
	f.perPage = uint8(bits.TrailingZeros(uint(page))) - f.shift
	for i := range f.region.Pages() {
		ref := f.region.Ref(i)
		iova, err := m.MapCoherent(ref, 0, uint32(page), dma.ToDevice)
		if err != nil {
			return fmt.Errorf("tx: map %d buffers of %d bytes (fewer Blocks or BufBytes "+
				"take less): %w", cfg.count, cfg.bytes, err)
		}
		f.pages = append(f.pages, bufPage{ref.Bytes(0, uint32(page)), iova})
	}
	return nil
}

// close unmaps what was mapped.
func (f *buffers) close(m *dma.Mapper) error {
	for _, p := range f.pages {
		m.Unmap(p.iova)
	}
	f.pages = nil
	if f.region == nil {
		return nil
	}
	return f.region.Close()
}

// free is the number of buffers that are left when so many are in use.
func (f *buffers) free(used uint32) uint32 { return f.mask + 1 - used }

// take lends the buffers from head on for n bytes, and moves head behind them.
// They are free: the room of a stopped queue is.
func (f *buffers) take(head *uint32, n uint32) (b []byte, iova uint64) {
	at := *head
	if n > 1<<f.shift {
		at += f.skip(at, n)
	}
	i := at & f.mask
	page, off := i>>f.perPage, (i&(1<<f.perPage-1))<<f.shift
	*head = at + (n+1<<f.shift-1)>>f.shift
	p := &f.pages[page]
	return p.bytes[off : off+n : off+n], p.iova + uint64(off)
}

// skip is how many buffers are left to the end of a page where the run for n
// bytes would leave it.
func (f *buffers) skip(at, n uint32) uint32 {
	perPage := uint32(1) << f.perPage
	left := perPage - at&(perPage-1)
	if n > left<<f.shift {
		return left
	}
	return 0
}
