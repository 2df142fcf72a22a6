package pagepool

import (
	"fmt"
	"runtime"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// odd sorts out a Put that does not match: the pool is closed, or the page is
// not out.
func (p *Pool) odd(page mem.Ref, n int32) {
	if !p.closed {
		p.bad(page, n)
		return
	}
	p.returns.mu.Lock()
	defer p.returns.mu.Unlock()
	p.late(page, n)
}

// bad counts a return of something that is not out.
func (p *Pool) bad(page mem.Ref, n int32) {
	p.stats.BadPut++
	if check.On {
		m := page.Meta()
		check.That(false, "pool %d: %d references on page %#x returned, but it has state %d "+
			"and %d references in pool %d; last Put at %s",
			p.number, n, uint32(page), m.State, m.Refs, m.Pool, p.givers.name(page))
	}
}

// intact asserts that nobody wrote to a page while it was free.
func (p *Pool) intact(page mem.Ref) {
	for i, b := range page.Bytes(0, p.pageBytes) {
		if b != check.Poison {
			check.That(false, "pool %d: byte %d of page %#x was written while free; "+
				"last Put at %s", p.number, i, uint32(page), p.givers.name(page))
		}
	}
}

// givers remembers, with -tags check, who put each page last.
type givers []uintptr

func newGivers(pages int) givers {
	if check.On {
		return make(givers, pages)
	}
	return nil
}

// note remembers the caller of Put.
func (g givers) note(page mem.Ref) {
	var pc [1]uintptr
	if int(page.Page()) < len(g) && runtime.Callers(3, pc[:]) == 1 {
		g[page.Page()] = pc[0]
	}
}

func (g givers) name(page mem.Ref) string {
	if int(page.Page()) >= len(g) || g[page.Page()] == 0 {
		return "no place known"
	}
	f, _ := runtime.CallersFrames([]uintptr{g[page.Page()]}).Next()
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
