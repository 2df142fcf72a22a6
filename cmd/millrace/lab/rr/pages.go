package rr

import (
	"fmt"
	"math/rand/v2"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// pages are those that payload lies in. References are counted in mem.Meta; the
// last one freed is the first to be used again, as from a page allocator.
type pages struct {
	free  []mem.Ref
	total int
	bytes uint32      // of a page
	kept  *dma.Domain // nil: mapped for nobody
}

// open takes the first pages of the region, in an order of the seed.
func (p *pages) open(m Memory, seed uint64) error {
	if m.Pages > m.Region.Pages() {
		return fmt.Errorf("rr: %d pages of a region of %d", m.Pages, m.Region.Pages())
	}
	p.bytes, p.kept = uint32(m.Region.PageBytes()), m.KeptMapped
	for i := range m.Pages {
		page := m.Region.Ref(i)
		*page.Meta() = mem.Meta{}
		if p.kept != nil {
			iova, err := p.kept.Map(page)
			if err != nil {
				return err
			}
			page.Meta().IOVA = iova
		}
		p.free = append(p.free, page)
		p.total++
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(p.free), func(i, j int) {
		p.free[i], p.free[j] = p.free[j], p.free[i]
	})
	return nil
}

// close ends the mappings of the pages that are home.
func (p *pages) close() {
	for _, page := range p.free {
		if m := page.Meta(); p.kept != nil && m.IOVA != 0 {
			p.kept.Unmap(m.IOVA)
			m.IOVA = 0
		}
	}
}

// put gives one reference back.
func (p *pages) put(page mem.Ref) {
	m := page.Meta()
	if m.Refs--; m.Refs == 0 {
		p.free = append(p.free, page)
	}
}

// A run is the page that a socket carves fragments from.
type run struct {
	page mem.Ref
	off  uint32
}

// carve takes n bytes for a fragment that owns a reference: from the start of
// the page if nobody else has one, else behind the last fragment, else from
// another page (skb_page_frag_refill of Linux). It reports false when there is
// no page.
func (p *pages) carve(r *run, n uint32) (f packet.Frag, ok bool) {
	switch {
	case r.page == mem.None:
		ok = p.fresh(r)
	case r.page.Meta().Refs == 1:
		r.off, ok = 0, true
	case r.off+n <= p.bytes:
		ok = true
	default:
		p.put(r.page)
		ok = p.fresh(r)
	}
	if !ok {
		return f, false
	}
	r.page.Meta().Refs++
	f = packet.Frag{Ref: r.page, Off: r.off, Len: n}
	r.off += n
	return f, true
}

// fresh gives the run a page of its own.
func (p *pages) fresh(r *run) bool {
	n := len(p.free)
	if n == 0 {
		*r = run{}
		return false
	}
	*r = run{page: p.free[n-1]}
	p.free = p.free[:n-1]
	r.page.Meta().Refs = 1
	return true
}

// leave gives up the page of a run.
func (p *pages) leave(r *run) {
	if r.page != mem.None {
		p.put(r.page)
		*r = run{}
	}
}

// out is the number of pages that somebody has a reference on.
func (p *pages) out() int { return p.total - len(p.free) }
