package dma

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
)

func TestSyncIsExact(t *testing.T) {
	d := New(Config{Mode: Bounce, Poison: true})
	page := open(t, 4096, 1)[0]
	iova := mapPage(t, d, page)
	dev, _ := d.Reach(iova, 4096, true)
	for i := range dev {
		dev[i] = 0x11
	}
	const off, n = 61, 70 // both ends inside a word of the bitmap, one between
	d.SyncForCPU(iova+off, n)
	cpu := page.Bytes(0, 4096)
	for i, b := range cpu {
		want := byte(check.Poison)
		if i >= off && i < off+n {
			want = 0x11
		}
		if b != want {
			t.Fatalf("byte %d is %#x, want %#x", i, b, want)
		}
	}
	for _, c := range []struct {
		off  uint64
		n    uint32
		want bool
	}{
		{off, n, true}, {off, 0, true}, {off - 1, 2, false}, {off + n - 1, 2, false},
		{off + n - 1, 1, true}, {0, 4096, false}, {4095, 2, false},
	} {
		before := d.Stats().UnsyncedReads
		got := d.CheckRead(iova+c.off, c.n)
		if counted := d.Stats().UnsyncedReads - before; got != c.want || got != (counted == 0) {
			t.Errorf("read of %d+%d: %v, counted %d", c.off, c.n, got, counted)
		}
	}
	d.SyncForDevice(iova+off, 1)
	if cpu[off] != check.Poison || d.CheckRead(iova+off, 1) || !d.CheckRead(iova+off+1, n-1) {
		t.Error("handing one byte back took more or less than one")
	}
	if s := d.Stats(); s.SyncCPUBytes != n || s.SyncDeviceBytes != 1 {
		t.Errorf("synced %d and %d bytes, want %d and 1", s.SyncCPUBytes, s.SyncDeviceBytes, n)
	}
}

// side is the model of a mapped page: what each side should see, byte by byte.
type side struct {
	cpu, dev []byte
	synced   []bool
}

// step does one random thing to page and model.
func (m *side) step(rng *rand.Rand, d *Domain, page mem.Ref, iova uint64) {
	size := uint32(len(m.cpu))
	off := rng.Uint32N(size)
	n := rng.Uint32N(min(size-off, 200) + 1)
	if rng.IntN(20) == 0 {
		off, n = 0, size
	}
	end := off + n
	switch rng.IntN(4) {
	case 0: // the device writes
		b, _ := d.Reach(iova+uint64(off), n, true)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		copy(m.dev[off:end], b)
	case 1: // the CPU writes what it owns
		for i := off; i < end; i++ {
			if m.synced[i] {
				m.cpu[i] = byte(rng.Uint32())
				page.Bytes(i, 1)[0] = m.cpu[i]
			}
		}
	case 2:
		d.SyncForCPU(iova+uint64(off), n)
		copy(m.cpu[off:end], m.dev[off:end])
		for i := off; i < end; i++ {
			m.synced[i] = true
		}
	case 3:
		d.SyncForDevice(iova+uint64(off), n)
		copy(m.dev[off:end], m.cpu[off:end])
		for i := off; i < end; i++ {
			m.synced[i], m.cpu[i] = false, check.Poison
		}
	}
}

func TestSyncAgainstModel(t *testing.T) {
	seed := testenv.Seed(t)
	pages := [3]mem.Ref{open(t, 4096, 1)[0], open(t, 16384, 1)[0], open(t, 65536, 1)[0]}
	for run := range testenv.Seeds(20) {
		rng := testenv.Rand(seed, uint64(run))
		d := New(Config{Mode: Bounce, Poison: true})
		page := pages[run%3]
		size := page.PageBytes()
		clear(page.Bytes(0, size))
		iova := mapPage(t, d, page)
		m := &side{cpu: make([]byte, size), dev: make([]byte, size), synced: make([]bool, size)}
		check.Fill(m.cpu)
		for i := range 200 {
			m.step(rng, d, page, iova)
			dev, _ := d.Reach(iova, size, false)
			if !bytes.Equal(dev, m.dev) || !bytes.Equal(page.Bytes(0, size), m.cpu) {
				t.Fatalf("run %d, step %d: the sides differ from the model", run, i)
			}
			off := rng.Uint32N(size)
			n, want := rng.Uint32N(min(size-off, 100)+1), true
			for _, s := range m.synced[off : off+n] {
				want = want && s
			}
			if got := d.CheckRead(iova+uint64(off), n); got != want {
				t.Fatalf("run %d, step %d: read of %d+%d: %v", run, i, off, n, got)
			}
		}
	}
}

func TestMapHandsTheBytesOver(t *testing.T) {
	d := New(Config{Mode: Bounce, Poison: true})
	pages := open(t, 4096, 2)
	copy(pages[0].Bytes(0, 5), "first")
	copy(pages[1].Bytes(0, 5), "other")
	for _, want := range []string{"first", "other"} { // the second reuses the frame
		page := pages[0]
		if want == "other" {
			page = pages[1]
		}
		iova := mapPage(t, d, page)
		b, _ := d.Reach(iova, 5, false)
		if string(b) != want || page.Bytes(0, 1)[0] != check.Poison || d.CheckRead(iova, 1) {
			t.Errorf("the device reads %q, want %q; the CPU %#x", b, want, page.Bytes(0, 5))
		}
		d.SyncForCPU(iova, 4096)
		d.Unmap(iova)
		if string(page.Bytes(0, 5)) != want {
			t.Errorf("the page holds %q behind Unmap, want %q", page.Bytes(0, 5), want)
		}
	}
	plain := New(Config{Mode: Bounce})
	mapPage(t, plain, pages[0])
	if got := pages[0].Bytes(0, 5); string(got) != "first" {
		t.Errorf("Map without Poison left %q", got)
	}
}
