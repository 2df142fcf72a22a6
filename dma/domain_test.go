package dma

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/mem"
)

var modes = map[string]Config{
	"passthrough": {},
	"strict":      {Mode: Strict},
	"lazy":        {Mode: Lazy},
	"bounce":      {Mode: Bounce},
	"poison":      {Mode: Bounce, Poison: true},
}

// open makes a region on the heap and takes all of its pages.
func open(t testing.TB, pageBytes, pages int) []mem.Ref {
	t.Helper()
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: pages, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	refs := make([]mem.Ref, pages)
	r.Alloc(refs)
	return refs
}

func mapPage(t testing.TB, d *Domain, page mem.Ref) uint64 {
	t.Helper()
	iova, err := d.Map(page)
	if err != nil {
		t.Fatal(err)
	}
	return iova
}

// reaches says whether the device may touch n bytes, and that a refusal is
// counted.
func reaches(t *testing.T, d *Domain, iova uint64, n uint32) bool {
	t.Helper()
	before := d.Stats().DeviceFaults
	b, ok := d.Reach(iova, n, false)
	if ok && (len(b) != int(n) || cap(b) != int(n)) {
		t.Errorf("reach of %d bytes lends %d, room for %d", n, len(b), cap(b))
	}
	if faults := d.Stats().DeviceFaults - before; ok != (faults == 0) {
		t.Errorf("reach %#x+%d is %v, faults counted %d", iova, n, ok, faults)
	}
	return ok
}

func TestMapReachUnmap(t *testing.T) {
	for name, cfg := range modes {
		for _, size := range []uint32{4096, 8192, 16384, 32768, 65536} {
			d := New(cfg)
			pages := open(t, int(size), 3)
			for _, page := range pages {
				iova := mapPage(t, d, page)
				if iova == 0 || iova%uint64(size) != 0 {
					t.Errorf("%s, %d bytes: IOVA %#x", name, size, iova)
				}
				for off := uint32(0); off < size; off += 4096 {
					if !reaches(t, d, iova+uint64(off), 4096) {
						t.Errorf("%s: granule at %d of %d is not mapped", name, off, size)
					}
				}
				for _, c := range []struct {
					off  uint64
					n    uint32
					want bool
				}{
					{0, size, true}, {0, 0, true}, {1, size - 1, true},
					{uint64(size) - 1, 1, true}, {uint64(size) - 1, 2, false},
					{0, size + 1, false}, {0, 1<<32 - 1, false},
				} {
					if got := reaches(t, d, iova+c.off, c.n); got != c.want {
						t.Errorf("%s: reach %d+%d of %d is %v", name, c.off, c.n, size, got)
					}
				}
			}
		}
	}
}

func TestDeviceFaults(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		page := open(t, 4096, 1)[0]
		iova := mapPage(t, d, page)
		for _, bad := range []uint64{
			0, 1, 4096, firstIOVA - 1, iova - 1, iova + 4096, lastIOVA, lastIOVA + iova,
			iova | 1<<52, iova | 1<<63, ^uint64(0), ^uint64(0) - 4095,
		} {
			if reaches(t, d, bad, 1) {
				t.Errorf("%s: the device reaches %#x", name, bad)
			}
		}
		before := d.Stats().WriteFaults
		d.Reach(0, 1, true)
		if got := d.Stats().WriteFaults - before; got != 1 {
			t.Errorf("%s: %d write faults, want 1", name, got)
		}
	}
}

func TestUnmapEndsAccess(t *testing.T) {
	for _, mode := range []Mode{Strict, Bounce} {
		for _, size := range []int{4096, 16384, 65536} {
			d := New(Config{Mode: mode})
			iova := mapPage(t, d, open(t, size, 1)[0])
			reaches(t, d, iova, uint32(size)) // the IOTLB knows all of it
			d.Unmap(iova)
			for off := 0; off < size; off += 4096 {
				if reaches(t, d, iova+uint64(off), 1) {
					t.Errorf("%s, page of %d: still reached at %d", mode, size, off)
				}
			}
			if mode == Bounce && d.CheckRead(iova, 1) {
				t.Error("an unmapped page may be read through the domain")
			}
		}
	}
}

func TestClosedRegionFaults(t *testing.T) {
	for _, mode := range []Mode{Passthrough, Strict, Lazy} {
		r, err := mem.Open(mem.Config{Pages: 1})
		if err != nil {
			t.Fatal(err)
		}
		d := New(Config{Mode: mode})
		iova := mapPage(t, d, r.Ref(0))
		if !reaches(t, d, iova, 4096) {
			t.Errorf("%s: the page is not reached while its region is open", mode)
		}
		r.Close()
		if reaches(t, d, iova, 1) {
			t.Errorf("%s: the device reaches a closed region", mode)
		}
	}
}

func TestDriverFaults(t *testing.T) {
	table, ident := New(modes["poison"]), New(Config{})
	strict := New(Config{Mode: Strict})
	page := open(t, 16384, 1)[0]
	iova, flat := mapPage(t, table, page), mapPage(t, ident, page)
	wide := mapPage(t, strict, page)
	_ = mapPage(t, strict, page)
	for _, c := range []struct {
		what string
		d    *Domain
		call func()
	}{
		{"sync for CPU across the end", table, func() { table.SyncForCPU(iova+16383, 2) }},
		{"sync for CPU of nothing", table, func() { table.SyncForCPU(0, 1) }},
		{"sync for device across the end", table, func() { table.SyncForDevice(iova, 16385) }},
		{"sync for device of nothing", table, func() { table.SyncForDevice(1<<63, 1) }},
		{"unmap of nothing", table, func() { table.Unmap(0) }},
		{"unmap inside a page", table, func() { table.Unmap(iova + 4096) }},
		{"unmap twice", table, func() { table.Unmap(iova); table.Unmap(iova) }},
		{"passthrough: unmap of nothing", ident, func() { ident.Unmap(0) }},
		{"passthrough: unmap behind a page", ident, func() { ident.Unmap(flat + 16384) }},
		{"passthrough: unmap beyond the space", ident, func() { ident.Unmap(flat | 1<<60) }},
		{"strict: unmap of nothing", strict, func() { strict.Unmap(0) }},
		{"strict: unmap in the first granule", strict, func() { strict.Unmap(wide + 64) }},
		{"strict: unmap of another granule", strict, func() { strict.Unmap(wide + 4096) }},
		{"strict: unmap beyond the space", strict, func() { strict.Unmap(wide | 1<<60) }},
		{"strict: unmap twice", strict, func() { strict.Unmap(wide); strict.Unmap(wide) }},
	} {
		before := c.d.Stats().DriverFaults
		c.call()
		if got := c.d.Stats().DriverFaults - before; got != 1 {
			t.Errorf("%s: %d driver faults, want 1", c.what, got)
		}
	}
	if s := table.Stats(); s.Maps != 1 || s.Unmaps != 1 {
		t.Errorf("%d maps, %d unmaps, want 1 and 1", s.Maps, s.Unmaps)
	}
	if s := strict.Stats(); s.Maps != 2 || s.Unmaps != 1 || s.Invalidations != 1 {
		t.Errorf("strict: %+v", s)
	}
	if s := ident.Stats(); s.Unmaps != 0 {
		t.Errorf("%d faulty unmaps were counted as good", s.Unmaps)
	}
}

func TestMapRefuses(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		odd := open(t, 640, 1)[0]
		big := open(t, 128<<10, 1)[0]
		for _, c := range []struct {
			page mem.Ref
			want string
		}{
			{mem.None, "no such page"}, {odd + 1, "no such page"},
			{odd, "has 640 bytes"}, {big, "has 131072 bytes"},
		} {
			iova, err := d.Map(c.page)
			if err == nil || iova != 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: map %#x: %#x, %v, want %q", name, uint32(c.page), iova, err, c.want)
			}
		}
		if s := d.Stats(); s.Maps != 0 {
			t.Errorf("%s: %d refused maps were counted", name, s.Maps)
		}
	}
}

// small is a domain with room for n granules of addresses or slots.
func small(mode Mode, n int) *Domain {
	return New(Config{Mode: mode, BounceBytes: n * granule, AddressBytes: n * granule})
}

// What is full refuses; what was unmapped is found again, also from the
// caches and from the flush queue.
func TestAddressSpaceEnds(t *testing.T) {
	for mode, want := range map[Mode]error{
		Strict: ErrNoAddress, Lazy: ErrNoAddress, Bounce: ErrNoSlot,
	} {
		d := small(mode, 4)
		pages, big := open(t, 4096, 5), open(t, 65536, 1)
		if _, err := d.Map(big[0]); err != want {
			t.Errorf("%s: 64 KiB mapped into 16: %v", mode, err)
		}
		var last uint64
		for _, page := range pages[:4] {
			last = max(last, mapPage(t, d, page))
		}
		if mode != Bounce && last != lastIOVA-4096 || !reaches(t, d, last, 4096) {
			t.Errorf("%s: last page is at %#x", mode, last)
		}
		if iova, err := d.Map(pages[4]); err != want || iova != 0 {
			t.Errorf("%s: a fifth page: %#x, %v", mode, iova, err)
		}
		d.Unmap(last)
		if got := mapPage(t, d, pages[4]); got != last {
			t.Errorf("%s: mapped at %#x, want the address that is free, %#x", mode, got, last)
		}
		if s := d.Stats(); s.Refused != 2 || s.Maps != 5 || s.Unmaps != 1 {
			t.Errorf("%s: %+v", mode, s)
		}
	}
}

func TestOneMemory(t *testing.T) {
	for _, mode := range []Mode{Passthrough, Strict, Lazy} {
		d := New(Config{Mode: mode})
		page := open(t, 4096, 1)[0]
		b, _ := d.Reach(mapPage(t, d, page)+100, 5, true)
		copy(b, "water")
		if got := page.Bytes(100, 5); !bytes.Equal(got, []byte("water")) {
			t.Errorf("%s: the CPU reads %q", mode, got)
		}
	}
}
