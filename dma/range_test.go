package dma

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/mem"
)

func mapRange(t testing.TB, d *Domain, page mem.Ref, off, n uint32, dir Dir) uint64 {
	t.Helper()
	iova, err := d.MapRange(page, off, n, dir)
	if err != nil {
		t.Fatal(err)
	}
	return iova
}

func TestRangeShowsItsBytes(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		page := open(t, 65536, 1)[0]
		all := page.Bytes(0, 65536)
		for i := range all {
			all[i] = byte(i * 7 >> 3)
		}
		want := bytes.Clone(all)
		for _, c := range []struct{ off, n uint32 }{
			{0, 1}, {0, 64}, {100, 1448}, {4095, 1}, {4095, 2}, {4096, 4096}, {4000, 9000},
			{1, 65535}, {65535, 1}, {0, 65536},
		} {
			iova := mapRange(t, d, page, c.off, c.n, ToDevice)
			b, ok := d.Reach(iova, c.n, false)
			if !ok || !bytes.Equal(b, want[c.off:c.off+c.n]) {
				t.Errorf("%s: %d bytes at %d are not those of the page, %v", name, c.n, c.off, ok)
			}
			d.Unmap(iova)
		}
		if s := d.Stats(); s.Maps != s.Unmaps || s.DriverFaults+s.UnsyncedWrites != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Each mapping of a page has its own address and its own end.
func TestSeveralMappingsOfOnePage(t *testing.T) {
	for name, cfg := range modes {
		if cfg.Mode == Passthrough {
			continue
		}
		d := New(cfg)
		page := open(t, 4096, 1)[0]
		held := mapPage(t, d, page)
		one := mapRange(t, d, page, 128, 500, ToDevice)
		two := mapRange(t, d, page, 128, 500, ToDevice)
		if one == two || one == held+128 || two == held+128 {
			t.Errorf("%s: addresses %#x, %#x, %#x", name, held, one, two)
		}
		d.Unmap(one)
		if cfg.Mode != Lazy && reaches(t, d, one, 500) {
			t.Errorf("%s: the first is still mapped", name)
		}
		if !reaches(t, d, two, 500) || !reaches(t, d, held, 4096) {
			t.Errorf("%s: unmapping one took the others", name)
		}
	}
}

func TestDirection(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		page := open(t, 16384, 1)[0]
		for _, dir := range []Dir{ToDevice, FromDevice, Both} {
			iova := mapRange(t, d, page, 4000, 5000, dir)
			_, read := d.Reach(iova, 5000, false)
			_, write := d.Reach(iova, 5000, true)
			free := cfg.Mode == Passthrough
			if read != (free || dir&ToDevice != 0) || write != (free || dir&FromDevice != 0) {
				t.Errorf("%s, dir %d: read %v, write %v", name, dir, read, write)
			}
			d.Unmap(iova)
		}
		want := uint64(2)
		if cfg.Mode == Passthrough {
			want = 0
		}
		if s := d.Stats(); s.DeviceFaults != want || s.WriteFaults != want/2 {
			t.Errorf("%s: %d faults, %d of writes", name, s.DeviceFaults, s.WriteFaults)
		}
	}
}

// With an IOMMU the device reaches the granules of a range, as far as the
// page goes; a bounce slot ends with the range.
func TestBounds(t *testing.T) {
	for name, cfg := range modes {
		if cfg.Mode == Passthrough {
			continue
		}
		exact := cfg.Mode == Bounce
		d := New(cfg)
		page := open(t, 16384, 1)[0]
		iova := mapRange(t, d, page, 4096+100, 1000, ToDevice)
		for _, c := range []struct {
			from int
			n    uint32
			want bool
		}{
			{0, 1000, true}, {999, 1, true}, {0, 1001, !exact}, {1000, 1, !exact},
			{-100, 4096, !exact}, {-101, 1, false}, {-100, 4097, false}, {3996, 1, false},
		} {
			if exact && c.from < 0 {
				continue // another slot, or nothing
			}
			if got := reaches(t, d, iova+uint64(c.from), c.n); got != c.want {
				t.Errorf("%s: %d bytes at %d: %v", name, c.n, c.from, got)
			}
		}
		short := open(t, 640, 1)[0]
		iova = mapRange(t, d, short, 0, 64, ToDevice)
		if reaches(t, d, iova, 641) || reaches(t, d, iova+640, 1) {
			t.Errorf("%s: the device runs over the end of a page of 640 bytes", name)
		}
	}
}

func TestMapRangeRefuses(t *testing.T) {
	for name, cfg := range modes {
		d := New(cfg)
		page, big := open(t, 4096, 1)[0], open(t, 2<<20, 1)[0]
		for _, c := range []struct {
			page   mem.Ref
			off, n uint32
			dir    Dir
		}{
			{page, 0, 0, Both}, {page, 4096, 1, Both}, {page, 4095, 2, Both},
			{page, 1, 1<<32 - 1, Both}, {page, 1<<32 - 1, 2, Both}, {page, 0, 64, 0},
			{page, 0, 64, 4}, {mem.None, 0, 1, Both}, {page + 1, 0, 1, Both},
			{big, 1 << 20, 1, Both}, {big, 1, 1 << 20, Both}, {big, 0, 2 << 20, Both},
		} {
			iova, err := d.MapRange(c.page, c.off, c.n, c.dir)
			if err == nil || iova != 0 || !strings.Contains(err.Error(), "want a range") {
				t.Errorf("%s: %+v: %#x, %v", name, c, iova, err)
			}
		}
		iova, err := d.MapRange(big, 0, 1<<20, ToDevice)
		if (err != nil) != (cfg.Mode == Bounce) {
			t.Errorf("%s: 1 MiB: %v", name, err)
		} else if err == nil && !reaches(t, d, iova, 1<<20) {
			t.Errorf("%s: 1 MiB is mapped but not reached", name)
		}
		iova = mapRange(t, d, big, 0, 256<<10, ToDevice)
		if !reaches(t, d, iova, 256<<10) {
			t.Errorf("%s: 256 KiB are mapped but not reached", name)
		}
	}
}

// UnmapAll ends all it is given, in every mode.
func TestUnmapAll(t *testing.T) {
	page := open(t, 65536, 1)[0]
	for mode := range NumModes {
		d := New(Config{Mode: mode})
		m := d.NewMapper()
		var iovas []uint64
		for n := range uint32(20) {
			iova, err := m.MapRange(page, 3000*n, 2000, ToDevice)
			if err != nil {
				t.Fatal(err)
			}
			iovas = append(iovas, iova)
		}
		m.UnmapAll(iovas[:13])
		m.UnmapAll(nil)
		m.UnmapAll(iovas[13:])
		m.Tick(0)
		if s := d.Stats(); s.Maps != 20 || s.Unmaps != 20 || s.DriverFaults != 0 {
			t.Errorf("%v: %+v", mode, s)
		}
		for _, iova := range iovas {
			if _, ok := d.Reach(iova, 1, false); ok && (mode == Strict || mode == Bounce) {
				t.Errorf("%v: the device reads behind UnmapAll", mode)
			}
		}
		m.Close()
	}
}
