package pagepool

import (
	"fmt"

	"github.com/millrace-net/millrace/mem"
)

// Close unmaps all pages, gives the free ones back to their source, and
// waits for nothing. The device must have stopped. Pages that are still out
// are an error that says how many; their users may read on, and the last Put
// or Return of each gives it to the source without touching the domain.
// Close again says whether they have come home.
func (p *Pool) Close() error {
	p.returns.mu.Lock()
	defer p.returns.mu.Unlock()
	if !p.closed {
		p.Drain()
		p.closed, p.owner = true, 0
		p.empty()
		p.abandon()
		p.retire()
	}
	if n := p.stats.out(); n > 0 {
		return fmt.Errorf("pagepool: close pool %d: %d pages not returned", p.number, n)
	}
	return nil
}

// empty releases the pages of cache and ring.
func (p *Pool) empty() {
	for _, page := range p.cache[:p.cached] {
		p.release(page)
	}
	p.cached = 0
	for i := range p.waiting {
		p.release(p.ring[(p.first+i)%len(p.ring)])
	}
	p.waiting = 0
}

// abandon unmaps the pages that are left, all of them out: when they come
// back, the domain may be gone (facts/mlx5e.md 12, bug 47).
func (p *Pool) abandon() {
	for i, mine := range p.mine {
		if mine {
			m := p.cfg.Region.Ref(i).Meta()
			p.domain.Unmap(m.IOVA)
			m.IOVA = 0
		}
	}
}

// retire frees the pool's number once no page carries it.
func (p *Pool) retire() {
	if p.stats.out() == 0 {
		freeNumber(p.number)
	}
}

// late takes n references on a page back behind Close. The caller holds
// returns.mu, which stands for the owner.
func (p *Pool) late(page mem.Ref, n int32) {
	m := page.Meta()
	if p.stats.out() == 0 || !isOut(m, p.number, n) {
		p.bad(page, n)
		return
	}
	if m.Refs -= n; m.Refs != 0 {
		return
	}
	p.stats.RecycleReleasedRef++
	p.release(page)
	p.retire()
}
