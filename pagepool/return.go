package pagepool

import (
	"sync"
	"sync/atomic"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
)

// maxReturns is the largest return ring, in references.
const maxReturns = 1 << 30

// returns is the ring of references that other goroutines give back. It has
// room for every reference that can be out, so it never overflows: a page
// comes home only once its references have left the ring. Indices run freely.
type returns struct {
	slots []mem.Ref // a power of two
	next  uint32    // owner: first reference not yet drained

	// The sides write these; a cache line apart, so that a producer does not
	// take the owner's line away.
	_        cpu.CacheLinePad
	consumer atomic.Uint32
	_        cpu.CacheLinePad
	producer atomic.Uint32
	mu       sync.Mutex // producers; whatever happens behind Close
	overflow uint64     // references that found no room: a bug, guarded by mu
}

// Return takes one reference on each page back. Any goroutine may call it:
// the references wait in a ring until the owner drains it. The slice is the
// caller's again.
func (p *Pool) Return(pages []mem.Ref) {
	r := &p.returns
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.closed {
		for _, page := range pages {
			p.late(page, 1)
		}
		return
	}
	prod, mask := r.producer.Load(), uint32(len(r.slots)-1)
	room := len(r.slots) - int(prod-r.consumer.Load())
	n := min(len(pages), room)
	for i, page := range pages[:n] {
		r.slots[(prod+uint32(i))&mask] = page
	}
	r.producer.Store(prod + uint32(n))
	if n < len(pages) {
		r.overflow += uint64(len(pages) - n)
		if check.On {
			check.That(false, "pool %d: %d references returned, room for %d: more than %d a page",
				p.number, len(pages), room, p.cfg.RefsPerPage)
		}
	}
}

// Drain takes the references from the return ring; the owner calls it once a
// poll. A page whose last reference comes back this way goes to the ring.
func (p *Pool) Drain() {
	r := &p.returns
	end := r.producer.Load()
	if r.next == end {
		return
	}
	for mask := uint32(len(r.slots) - 1); r.next != end; {
		page := r.slots[r.next&mask]
		r.next++
		m := page.Meta()
		if !isOut(m, p.owner, 1) {
			p.bad(page, 1)
			continue
		}
		if m.Refs--; m.Refs == 0 {
			m.State = StateFree
			p.clean(page, m)
			p.enqueue(page)
		}
	}
	r.consumer.Store(r.next)
}
