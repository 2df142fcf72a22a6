package pagepool

import (
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// Put takes n references on the page back. The last one brings the page home:
// to the cache, else to the ring, else to the source. A page that is not out,
// or a count that is not from 1 to the page's references, is counted as
// BadPut and changes nothing. Budget: 4 ns, two bare calls.
func (p *Pool) Put(page mem.Ref, n int32) {
	m := page.Meta()
	if check.On {
		p.givers.note(page)
	}
	if !isOut(m, p.owner, n) {
		p.odd(page, n)
		return
	}
	if m.Refs -= n; m.Refs != 0 {
		return
	}
	m.State = StateFree
	p.clean(page, m)
	if p.cached < cacheSize {
		p.stats.RecycleCached++
		p.push(page)
		return
	}
	p.stats.RecycleCacheFull++
	p.enqueue(page)
}

// isOut reports whether the page is out of the pool with at least n
// references. A page that is free has none.
func isOut(m *mem.Meta, pool uint16, n int32) bool {
	return m.Pool == pool && uint32(n-1) < uint32(m.Refs)
}

// clean makes the bytes of a page whose references are all back the device's.
func (p *Pool) clean(page mem.Ref, m *mem.Meta) {
	p.domain.SyncForDevice(m.IOVA, p.pageBytes)
	if check.On {
		check.Fill(page.Bytes(0, p.pageBytes))
	}
}

// enqueue puts a free page at the end of the ring, or releases it when the
// ring is full.
func (p *Pool) enqueue(page mem.Ref) {
	if p.waiting == len(p.ring) {
		p.stats.RecycleRingFull++
		p.release(page)
		return
	}
	end := p.first + p.waiting
	if end >= len(p.ring) {
		end -= len(p.ring)
	}
	p.ring[end] = page
	p.waiting++
	p.stats.RecycleRing++
}

// release gives a page back to the source. One that Close has unmapped does
// not touch the domain again.
func (p *Pool) release(page mem.Ref) {
	m := page.Meta()
	if m.IOVA != 0 {
		p.domain.Unmap(m.IOVA)
	}
	m.IOVA, m.Refs, m.Pool, m.State = 0, 0, 0, StateNone
	p.mine[page.Page()] = false
	p.total--
	p.source.Release(page)
}
