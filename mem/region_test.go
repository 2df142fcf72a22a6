package mem

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// open makes a region and closes it with the test.
func open(t testing.TB, cfg Config) *Region {
	t.Helper()
	r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// panics runs f and returns the text of its panic, or fails.
func panics(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		switch v := recover().(type) {
		case nil:
			t.Error("no panic")
		case error:
			text = v.Error()
		case string:
			text = v
		default:
			t.Errorf("panic with %T", v)
		}
	}()
	f()
	return ""
}

var kinds = map[string]Kind{"mapped": Auto, "heap": Heap}

func TestOpenLaysOutPages(t *testing.T) {
	for name, kind := range kinds {
		for _, size := range []int{64, 640, 4096, 65536} {
			t.Run(name, func(t *testing.T) {
				r := open(t, Config{PageBytes: size, Pages: 70, Kind: kind, Node: 3})
				refs := make([]Ref, 80)
				if n := r.Alloc(refs); n != 70 || r.Free() != 0 {
					t.Fatalf("Alloc gave %d of 70 pages, %d left", n, r.Free())
				}
				seen := make(map[uintptr]Ref)
				for _, ref := range refs[:70] {
					at := uintptr(ref.At(0, uint32(size)))
					if at%64 != 0 || uintptr(unsafe.Pointer(ref.Meta()))%64 != 0 {
						t.Fatalf("page %d at %#x, meta at %p: want lines of 64",
							ref.Page(), at, ref.Meta())
					}
					if other, ok := seen[at]; ok {
						t.Fatalf("pages %d and %d share memory", other.Page(), ref.Page())
					}
					seen[at] = ref
					if m := ref.Meta(); m.Node != 3 || m.IOVA != 0 || m.Refs != 0 || m.Pool != 0 {
						t.Fatalf("fresh meta is %+v", m)
					}
					if ref.PageBytes() != uint32(size) || ref.Region() == 0 || ref == None {
						t.Fatalf("ref %#x, %d bytes", uint32(ref), ref.PageBytes())
					}
				}
			})
		}
	}
}

// TestPagesDoNotOverlap fills every page and its Meta with its number.
func TestPagesDoNotOverlap(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			r := open(t, Config{PageBytes: 192, Pages: 50, Kind: kind})
			for i := range r.Pages() {
				copy(r.Ref(i).Bytes(0, 192), bytes.Repeat([]byte{byte(i)}, 192))
				r.Ref(i).Meta().IOVA = uint64(i)
			}
			for i := range r.Pages() {
				if !bytes.Equal(r.Ref(i).Bytes(0, 192), bytes.Repeat([]byte{byte(i)}, 192)) {
					t.Errorf("page %d was overwritten", i)
				}
				if r.Ref(i).Meta().IOVA != uint64(i) {
					t.Errorf("meta %d was overwritten", i)
				}
			}
		})
	}
}

func TestConfig(t *testing.T) {
	r := open(t, Config{Pages: 1})
	if r.PageBytes() != 4096 {
		t.Errorf("default page is %d bytes, want 4096", r.PageBytes())
	}
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{PageBytes: 100, Pages: 1}, "multiple of 64"},
		{Config{PageBytes: -64, Pages: 1}, "multiple of 64"},
		{Config{Pages: 0}, "want 1 to"},
		{Config{Pages: 1<<24 + 1}, "want 1 to"},
	} {
		_, err := Open(tt.cfg)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%+v): %v, want %q", tt.cfg, err, tt.want)
		}
	}
}

func TestBacking(t *testing.T) {
	if got := open(t, Config{Pages: 1, Kind: Heap}).Backing(); got != "heap" {
		t.Errorf("heap region is backed by %q", got)
	}
	known := "2 MiB pages, transparent huge pages, plain pages, heap"
	for _, pages := range []int{1, 1024} {
		r := open(t, Config{Pages: pages})
		if !strings.Contains(known, r.Backing()) || r.Backing() == "" {
			t.Errorf("%d pages are backed by %q, want one of %s", pages, r.Backing(), known)
		}
	}
}

func TestAllocIsLastInFirstOut(t *testing.T) {
	r := open(t, Config{Pages: 8})
	var refs [4]Ref
	r.Alloc(refs[:])
	r.Release(refs[1])
	r.Release(refs[2])
	var again [2]Ref
	if r.Alloc(again[:]); again != [2]Ref{refs[2], refs[1]} {
		t.Errorf("got pages %v, want the last released first", again)
	}
	if n := r.Alloc(make([]Ref, 8)); n != 4 {
		t.Errorf("%d pages left, want 4", n)
	}
	if n := r.Alloc(make([]Ref, 1)); n != 0 {
		t.Errorf("an empty region gave %d pages", n)
	}
}

func TestReleaseOfWhatIsNotAllocated(t *testing.T) {
	r, other := open(t, Config{Pages: 2}), open(t, Config{Pages: 2})
	var ref, foreign [1]Ref
	r.Alloc(ref[:])
	other.Alloc(foreign[:])
	r.Release(ref[0])
	for name, bad := range map[string]Ref{
		"twice": ref[0], "never allocated": r.Ref(1), "of another region": foreign[0],
		"behind the end": r.Ref(2), "none": None,
	} {
		t.Run(name, func(t *testing.T) {
			text := panics(t, func() { r.Release(bad) })
			if !strings.Contains(text, "not allocated") {
				t.Errorf("panic says %q", text)
			}
		})
	}
	if r.Free() != 2 {
		t.Errorf("%d pages free, want 2", r.Free())
	}
}

func TestAccessOutsideAPage(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			r := open(t, Config{Pages: 2, Kind: kind})
			page := r.Ref(0)
			if !page.Holds(4096, 0) || !page.Holds(0, 4096) {
				t.Error("a page does not hold all of itself")
			}
			if r.Ref(2).Holds(0, 0) || None.Holds(0, 0) {
				t.Error("what is no page holds bytes")
			}
			if b := page.Bytes(4096, 0); len(b) != 0 {
				t.Errorf("no bytes at the end of the page are %d", len(b))
			}
			if b := page.Bytes(0, 16); cap(b) != 16 {
				t.Errorf("append could run on: capacity %d, want 16", cap(b))
			}
			for _, a := range [][2]uint32{{4096, 1}, {4095, 2}, {0, 4097}, {1<<32 - 1, 1},
				{1<<32 - 1, 1<<32 - 1}, {1, 1<<32 - 1}} {
				if page.Holds(a[0], a[1]) {
					t.Errorf("%d bytes at %d are said to lie in the page", a[1], a[0])
				}
				text := panics(t, func() { page.Bytes(a[0], a[1]) })
				if !strings.Contains(text, "page 0") {
					t.Errorf("panic says %q", text)
				}
			}
			panics(t, func() { r.Ref(2).Bytes(0, 1) })
			panics(t, func() { r.Ref(2).Meta() })
			panics(t, func() { None.Bytes(0, 1) })
			panics(t, func() { None.Meta() })
		})
	}
}

func TestStaleRef(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			r, err := Open(Config{Pages: 1, Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			page := r.Ref(0)
			for range 2 {
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
			panics(t, func() { page.Bytes(0, 1) })
			panics(t, func() { page.Bytes(0, 0) })
			panics(t, func() { page.Meta() })
			if page.PageBytes() != 0 {
				t.Errorf("a closed region has pages of %d bytes", page.PageBytes())
			}
		})
	}
}

func TestRegionNumbersRunOut(t *testing.T) {
	var regions []*Region
	defer func() {
		for _, r := range regions {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		open(t, Config{PageBytes: 64, Pages: 1, Kind: Heap}) // numbers are used again
	}()
	for len(regions) < 256 {
		r, err := Open(Config{PageBytes: 64, Pages: 1, Kind: Heap})
		if errors.Is(err, ErrTooManyRegions) {
			if len(regions) != 255 {
				t.Errorf("refused after %d regions, want 255", len(regions))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		regions = append(regions, r)
	}
	t.Error("256 regions are open")
}

// TestAllocFromSeveralGoroutines: each writes what it holds, so that -race
// finds a page given to two.
func TestAllocFromSeveralGoroutines(t *testing.T) {
	r := open(t, Config{PageBytes: 64, Pages: 32, Kind: Heap})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var refs [8]Ref
			for range 500 {
				n := r.Alloc(refs[:1+g])
				for _, ref := range refs[:n] {
					ref.Bytes(0, 64)[0]++
					ref.Meta().Refs++
				}
				for _, ref := range refs[:n] {
					r.Release(ref)
				}
			}
		})
	}
	wg.Wait()
	if r.Free() != 32 {
		t.Errorf("%d pages free, want 32", r.Free())
	}
}

func TestAccessDoesNotAllocate(t *testing.T) {
	r := open(t, Config{Pages: 4})
	var refs [4]Ref
	allocs := testing.AllocsPerRun(100, func() {
		n := r.Alloc(refs[:])
		for _, ref := range refs[:n] {
			ref.Bytes(64, 64)[0] = 1
			ref.Meta().Refs = 1
			r.Release(ref)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
