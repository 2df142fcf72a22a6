package pagepool

import (
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// limited gives left pages of its region and no more; page odd of those is
// replaced by one that cannot be mapped.
type limited struct {
	*mem.Region
	left int
	odd  int
	back []mem.Ref // odd pages released
}

func (l *limited) Alloc(dst []mem.Ref) int {
	n := l.Region.Alloc(dst[:min(len(dst), l.left)])
	l.left -= n
	for i := range n {
		if l.odd--; l.odd == -1 {
			l.Region.Release(dst[i])
			dst[i] = l.Ref(l.Pages()) // behind the last one
		}
	}
	return n
}

func (l *limited) Release(page mem.Ref) {
	if int(page.Page()) == l.Pages() {
		l.back = append(l.back, page)
		return
	}
	l.Region.Release(page)
}

// newLimited makes a pool whose provider fails as told.
func newLimited(t *testing.T, pageBytes, left, odd int) (*Pool, *limited) {
	t.Helper()
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: 128, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	l := &limited{Region: r, left: left, odd: odd}
	d := dma.New(dma.Config{Mode: dma.Bounce})
	p, err := New(Config{Region: r, Domain: d, Provider: l})
	if err != nil {
		t.Fatal(err)
	}
	return p, l
}

// Allocation k of 64 fails, for every k: what was given stays good and comes
// home once (facts/mlx5e.md 12, bug 26).
func TestProviderFailsAtEveryPage(t *testing.T) {
	for _, size := range []int{4096, 16384} {
		for k := range 65 {
			p, l := newLimited(t, size, k, -1)
			dst := make([]mem.Ref, 64)
			if got := p.Alloc(dst); got != k {
				t.Fatalf("%d pages, want %d", got, k)
			}
			s := p.Stats()
			given := s.AllocFast + s.AllocSlow + s.AllocSlowHighOrder
			if given != uint64(k) || p.Books().Out != k {
				t.Errorf("k=%d: %+v", k, s)
			}
			law(t, p, l.Region)
			putAll(p, dst[:k])
			l.left = 64
			if got := p.Alloc(dst); got != 64 { // it recovers by itself
				t.Errorf("k=%d: %d pages once there is memory, want 64", k, got)
			}
			law(t, p, l.Region)
			putAll(p, dst)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			law(t, p, l.Region)
		}
	}
}

// Page k of a bulk cannot be mapped: it goes back, the others are used.
func TestMappingFailsAtEveryPage(t *testing.T) {
	for k := range 64 {
		p, l := newLimited(t, 4096, 64, k)
		dst := make([]mem.Ref, 64)
		if got := p.Alloc(dst); got != 63 {
			t.Fatalf("k=%d: %d pages, want 63", k, got)
		}
		s := p.Stats()
		if s.MapFailed != 1 || len(l.back) != 1 || s.AllocSlow != 1 || s.AllocFast != 62 {
			t.Errorf("k=%d: %d given back, %+v", k, len(l.back), s)
		}
		law(t, p, l.Region)
		putAll(p, dst[:63])
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		law(t, p, l.Region)
	}
	p, _ := newLimited(t, 16384, 1, 0) // the only page of a high-order fill
	if got := p.Alloc(make([]mem.Ref, 1)); got != 0 {
		t.Errorf("%d pages, want 0", got)
	}
	expect(t, p, "high order", Stats{AllocEmpty: 1, MapFailed: 1})
}

// stray gives pages of a region that is not the pool's.
type stray struct{ *mem.Region }

func TestForeignPageIsRefused(t *testing.T) {
	other, err := mem.Open(mem.Config{Pages: 3, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	p, r := newPool(t, Config{Provider: stray{other}}, 4096, 8)
	if got := p.Alloc(make([]mem.Ref, 1)); got != 0 {
		t.Errorf("%d foreign pages given", got)
	}
	if s := p.Stats(); s.MapFailed != 3 || other.Free() != 3 || p.domain.Stats().Maps != 0 {
		t.Errorf("%+v, %d of 3 pages given back", s, other.Free())
	}
	law(t, p, r)
}
