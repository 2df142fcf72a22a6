package rr

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
)

// send makes frames of n packets of a flood.
func frames(t *testing.T, f *Flood, n int) (list [][]byte) {
	t.Helper()
	out := packet.NewBatch(f.Slab(), n)
	f.Fill(out, n)
	for i := range out.Len() {
		b := slices.Concat(out.Head(i), out.Frag(i, 0))
		binary.BigEndian.PutUint16(b[50:], ^checksum.Sum(b[34:]))
		list = append(list, b)
	}
	f.Free(out)
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	return list
}

func TestFlood(t *testing.T) {
	for _, size := range []int{55, 64, 1514} {
		a, e, err := nic.NewCable(64)
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewFlood(size, Memory{Region: open(t, 4096, 40), Pages: 40, Packets: 64}, 3)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSink(e, size, 3)
		for range 20 {
			for _, b := range frames(t, f, 32) {
				if len(b) != size {
					t.Fatalf("%d bytes, want %d", len(b), size)
				}
				a.Send(nic.Frame{Data: b})
			}
			s.Drain()
		}
		if s.Err() != nil || s.Taken != 640 || s.CRC == 0 {
			t.Errorf("%d bytes: %d taken, %v", size, s.Taken, s.Err())
		}
		b := frames(t, f, 2)
		a.Send(nic.Frame{Data: b[1]})
		if s.Drain(); s.Err() == nil || !strings.Contains(s.Err().Error(), string(badSequence)) {
			t.Errorf("a frame was skipped: %v", s.Err())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A fragment begins where the page is free: at its start when nobody else holds
// on to it, behind the last one while somebody does, in another page when it is
// full.
func TestCarve(t *testing.T) {
	var p pages
	if err := p.open(Memory{Region: open(t, 4096, 2), Pages: 2}, 1); err != nil {
		t.Fatal(err)
	}
	var a run
	take := func(n, wantOff uint32) packet.Frag {
		t.Helper()
		f, ok := p.carve(&a, n)
		if !ok || f.Off != wantOff || f.Len != n {
			t.Fatalf("%+v, %v, want offset %d", f, ok, wantOff)
		}
		return f
	}
	f := take(1000, 0)
	g := take(2000, 1000)
	if f.Ref != g.Ref || p.out() != 1 {
		t.Error("two fragments lie in two pages")
	}
	p.put(f.Ref)
	p.put(g.Ref)
	f = take(4096, 0) // only the run holds on to the page
	g = take(1, 0)
	if f.Ref == g.Ref || p.out() != 2 {
		t.Error("a fragment lies in a full page")
	}
	var b run
	if _, ok := p.carve(&b, 1); ok || b.page != mem.None {
		t.Error("a page that is not there")
	}
	p.put(f.Ref) // the last reference: the run has left that page
	if h, ok := p.carve(&b, 1); !ok || h.Ref != f.Ref {
		t.Error("the page freed last is not used first")
	} else {
		p.put(h.Ref)
	}
	p.put(g.Ref)
	p.leave(&a)
	p.leave(&b)
	p.leave(&b)
	if p.out() != 0 {
		t.Errorf("%d pages are out", p.out())
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	f, err := NewFlood(256, Memory{Region: open(t, 4096, 40), Pages: 40, Packets: 64}, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := packet.NewBatch(f.Slab(), 32)
	if n := testing.AllocsPerRun(100, func() { f.Fill(out, 32); f.Free(out) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Pages that are kept mapped are mapped until Close, and no longer.
func TestKeptMapped(t *testing.T) {
	dom := dma.New(dma.Config{Mode: dma.Strict})
	r := open(t, 4096, 8)
	f, err := NewFlood(256, Memory{r, 8, 4, dom}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if s := dom.Stats(); s.Maps != 8 || r.Ref(7).Meta().IOVA == 0 {
		t.Errorf("%d maps of 8", s.Maps)
	}
	frames(t, f, 4)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if s := dom.Stats(); s.Unmaps != 8 || r.Ref(7).Meta().IOVA != 0 {
		t.Errorf("%d unmaps of 8", s.Unmaps)
	}
	// Two pages fit the address space: the third fails, and nothing stays mapped.
	dom = dma.New(dma.Config{Mode: dma.Strict, AddressBytes: 8192})
	_, err = NewFlood(256, Memory{r, 8, 4, dom}, 3)
	if s := dom.Stats(); !errors.Is(err, dma.ErrNoAddress) || s.Maps != 2 || s.Unmaps != 2 {
		t.Errorf("%v; %d maps, %d unmaps", err, s.Maps, s.Unmaps)
	}
}
