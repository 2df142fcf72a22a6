package pagepool

import (
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// Alloc fills dst with pages as far as they last and reports how many. The
// caller takes them: mapped, Meta.IOVA set, with Bias references each. The
// bytes are whatever the last user left. Budget: 4 ns a page from the cache.
func (p *Pool) Alloc(dst []mem.Ref) int {
	n := p.take(dst)
	p.stats.AllocFast += uint64(n)
	for n < len(dst) && p.fill() {
		got := p.take(dst[n:])
		p.stats.AllocFast += uint64(got - 1) // fill counted one of them
		n += got
	}
	return n
}

// take moves pages from the cache to dst, the warmest first.
func (p *Pool) take(dst []mem.Ref) int {
	n := min(len(dst), p.cached)
	p.cached -= n
	pages := p.cache[p.cached : p.cached+n]
	for i := range dst[:n] {
		page := pages[n-1-i]
		if check.On {
			p.intact(page)
		}
		m := page.Meta()
		m.Refs, m.State = Bias, StateOut
		dst[i] = page
	}
	return n
}

// fill brings at least one page to the empty cache: from the ring, else from
// the source.
func (p *Pool) fill() bool {
	p.Drain()
	return p.refill() || p.slow()
}

// refill moves pages from the ring to the cache, up to the first one of
// another NUMA node, which is released.
func (p *Pool) refill() bool {
	if p.waiting == 0 {
		p.stats.AllocEmpty++
		return false
	}
	for p.waiting > 0 && p.cached < cacheRefill {
		page := p.ring[p.first]
		p.waiting--
		if p.first++; p.first == len(p.ring) {
			p.first = 0
		}
		if page.Meta().Node != p.node {
			p.stats.AllocWaive++
			p.release(page)
			break
		}
		p.push(page)
	}
	if p.cached == 0 {
		return false
	}
	p.stats.AllocRefill++
	return true
}

// slow maps pages of the source. One that cannot be used goes back to it, and
// the others are taken.
func (p *Pool) slow() bool {
	if p.closed {
		return false
	}
	want, count := slowBulk, &p.stats.AllocSlow
	if p.pageBytes > orderZero {
		want, count = 1, &p.stats.AllocSlowHighOrder
	}
	bulk := p.bulk[:want:want]
	for _, page := range bulk[:p.source.Alloc(bulk)] {
		p.adopt(page)
	}
	if p.cached == 0 {
		return false
	}
	*count++
	return true
}

func (p *Pool) adopt(page mem.Ref) {
	iova, ok := p.enter(page)
	if !ok {
		p.stats.MapFailed++
		p.source.Release(page)
		return
	}
	m := page.Meta()
	m.IOVA, m.Refs, m.Pool, m.State = iova, 0, p.number, StateFree
	p.mine[page.Page()] = true
	p.total++
	if check.On {
		check.Fill(page.Bytes(0, p.pageBytes))
	}
	p.push(page)
}

// enter maps a page of the region; others are refused.
func (p *Pool) enter(page mem.Ref) (iova uint64, ok bool) {
	if page.Region() != p.cfg.Region.Ref(0).Region() {
		return 0, false
	}
	iova, err := p.domain.Map(page)
	return iova, err == nil
}

func (p *Pool) push(page mem.Ref) {
	p.cache[p.cached] = page
	p.cached++
}
