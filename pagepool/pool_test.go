package pagepool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// newPool opens a heap region of n pages and a pool over it. Without a Domain
// it gets one that finds every fault.
func newPool(t testing.TB, cfg Config, pageBytes, n int) (*Pool, *mem.Region) {
	t.Helper()
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: n, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cfg.Region = r
	if cfg.Domain == nil {
		cfg.Domain = dma.New(dma.Config{Mode: dma.Bounce, Poison: true})
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, r
}

func alloc(t testing.TB, p *Pool, n int) []mem.Ref {
	t.Helper()
	dst := make([]mem.Ref, n)
	if got := p.Alloc(dst); got != n {
		t.Fatalf("%d pages allocated, want %d", got, n)
	}
	return dst
}

func sizeName(n int) string { return fmt.Sprintf("%d", n) }

// law asserts what holds after every step.
func law(t testing.TB, p *Pool, r *mem.Region) {
	t.Helper()
	b, s, d := p.Books(), p.Stats(), p.domain.Stats()
	if b.Free+b.Out != b.Total || s.Inflight != b.Total {
		t.Fatalf("books %+v, inflight %d", b, s.Inflight)
	}
	if r.Free()+b.Total != r.Pages() {
		t.Fatalf("%d pages in the region, %d in the pool, %d in all", r.Free(), b.Total, r.Pages())
	}
	mapped := int(d.Maps - d.Unmaps)
	if want := b.Total; !p.closed && mapped != want || p.closed && mapped != 0 {
		t.Fatalf("%d pages mapped, %d in the pool, closed %v", mapped, want, p.closed)
	}
	if d.DriverFaults != 0 || d.DeviceFaults != 0 {
		t.Fatalf("faults: %+v", d)
	}
}

// bad runs a call that gives back what is not out: it is counted once and
// changes nothing, or panics in a check build.
func bad(t *testing.T, p *Pool, what string, call func()) {
	t.Helper()
	before, books := p.Stats().BadPut, p.Books()
	msg := func() (msg string) {
		defer func() { msg = fmt.Sprint(recover()) }()
		call()
		return
	}()
	if check.On != strings.HasPrefix(msg, "check: ") {
		t.Errorf("%s: panic %q", what, msg)
	}
	if got := p.Stats().BadPut - before; got != 1 {
		t.Errorf("%s: counted %d times, want 1", what, got)
	}
	if p.Books() != books {
		t.Errorf("%s: books %+v, want %+v", what, p.Books(), books)
	}
}
