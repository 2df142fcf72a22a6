package dma

import (
	"bytes"
	"strings"
	"testing"
)

// In every mode driver and device see the same bytes of coherent memory, both
// ways, without Sync, and nothing behind Unmap.
func TestCoherent(t *testing.T) {
	page := open(t, 65536, 1)[0]
	for mode := range NumModes {
		d := New(Config{Mode: mode, Poison: mode == Bounce})
		m := d.NewMapper()
		iova, err := m.MapCoherent(page, 4096, 5000, Both)
		if err != nil {
			t.Fatal(err)
		}
		cpu := page.Bytes(4096, 5000)
		copy(cpu[4090:], "from the driver")
		b, ok := d.Reach(iova+4090, 15, false)
		if !ok || string(b) != "from the driver" {
			t.Errorf("%v: the device reads %q, %v", mode, b, ok)
		}
		if b, ok = d.Reach(iova, 5000, true); !ok {
			t.Fatalf("%v: the device cannot write", mode)
		}
		copy(b, "from the device")
		if !bytes.HasPrefix(cpu, []byte("from the device")) || !d.CheckRead(iova, 5000) {
			t.Errorf("%v: the driver reads %q", mode, cpu[:15])
		}
		d.SyncForCPU(iova, 5000)
		d.SyncForDevice(iova, 5000)
		if string(cpu[:15]) != "from the device" || string(cpu[4090:4105]) != "from the driver" {
			t.Errorf("%v: Sync changed something", mode)
		}
		m.Unmap(iova)
		if _, ok := d.Reach(iova, 1, false); ok && mode != Passthrough && mode != Lazy {
			t.Errorf("%v: the device reads behind Unmap", mode)
		}
		m.Unmap(iova)
		m.Close()
		s := d.Stats()
		if s.Maps != 1 || mode != Passthrough && (s.Unmaps != 1 || s.DriverFaults != 1) ||
			s.BounceCopies != 0 {
			t.Errorf("%v: %+v", mode, s)
		}
	}
}

// Addresses of coherent memory are used again, and never while they are.
func TestCoherentAddresses(t *testing.T) {
	pages := open(t, 65536, 2)
	d := New(Config{Mode: Bounce})
	m := d.NewMapper()
	seen := map[uint64]bool{}
	for n := range 100 {
		a, err := m.MapCoherent(pages[0], 0, 65536, ToDevice)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.MapCoherent(pages[1], 0, 65536, ToDevice)
		if err != nil || a == b {
			t.Fatal(a, b, err)
		}
		seen[a], seen[b] = true, true
		pages[n%2].Bytes(0, 1)[0] = byte(n)
		if got, ok := d.Reach([]uint64{a, b}[n%2], 1, false); !ok || got[0] != byte(n) {
			t.Errorf("%d: %v, %v", n, got, ok)
		}
		if _, ok := d.Reach(a, 1, true); ok {
			t.Error("the device writes what it may only read")
		}
		m.Unmap(a)
		m.Unmap(b)
	}
	if len(seen) != 2 {
		t.Errorf("%d addresses for two ranges", len(seen))
	}
}

func TestCoherentRefuses(t *testing.T) {
	page := open(t, 1<<20, 1)[0]
	m := New(Config{Mode: Bounce}).NewMapper()
	for want, c := range map[string]struct {
		off, n uint32
		dir    Dir
	}{
		"at most 262144": {0, 1 << 19, Both},
		"map 0 bytes":    {0, 0, Both},
		"want a range":   {1 << 20, 1, Both},
		"a direction":    {0, 1, 0},
	} {
		_, err := m.MapCoherent(page, c.off, c.n, c.dir)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
