package rx

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// receive polls once with room for all there is.
func receive(t testing.TB, q *Queue) *packet.Batch {
	t.Helper()
	b := packet.NewBatch(q.Slab(), q.Slab().Cap())
	q.Poll(b, 1<<20)
	return b
}

// contents is all bytes of a packet, chained ones not counted.
func contents(b *packet.Batch, i int) []byte {
	all := bytes.Clone(b.Head(i))
	for k := range b.NumFrags(i) {
		all = append(all, b.Frag(i, k)...)
	}
	return all
}

// one sends a frame and takes the packet of it.
func one(t testing.TB, q *Queue, d *device, frame []byte) (*packet.Batch, *packet.Packet) {
	t.Helper()
	if !d.send(frame) {
		t.Fatal("nothing posted")
	}
	d.plain()
	b := receive(t, q)
	if b.Len() != 1 {
		t.Fatalf("%d packets, want 1; %+v", b.Len(), q.Stats())
	}
	if got := contents(b, 0); !bytes.Equal(got, frame) {
		t.Fatalf("%d bytes differ from the %d sent", len(got), len(frame))
	}
	return b, b.At(0)
}

// A full frame of MTU 1500 is one stride of 2048; 1920 bytes are synced: 64
// and 1514 rounded up, and the SharedInfo (facts/mlx5e.md 14).
func TestLinearFullFrame(t *testing.T) {
	q, d := open(t, Config{Queue: 7}, poisoned())
	before := q.dom.Stats().SyncCPUBytes
	b, p := one(t, q, d, tcpFrame(1514))
	if n := q.dom.Stats().SyncCPUBytes - before; n != 1920 {
		t.Errorf("synced %d bytes, want 1920", n)
	}
	if p.HeadKind != packet.HeadPage || p.Data != 64 || p.Linear != 1514 || p.Len != 1514 ||
		p.Room != 1600 || p.Truesize != 1600+320+128 || p.Queue != 7 {
		t.Errorf("packet %+v", p)
	}
	if s := p.Shared(); s.NumFrags != 0 || s.Chain != 0 || s.GSO != (packet.GSO{}) {
		t.Errorf("shared info %+v", s)
	}
	q.Free(b)
}

// Two buffers of one page: the ring hands out two references, and the page is
// free once both packets are and the ring has put the rest, in any order.
func TestLinearTwoBuffersAPage(t *testing.T) {
	for _, freeFirst := range []bool{true, false} {
		q, d := open(t, Config{}, nil)
		d.send(tcpFrame(100))
		d.send(tcpFrame(200))
		d.plain()
		b := receive(t, q)
		page := b.At(0).Head
		if b.Len() != 2 || b.At(1).Head != page || b.At(0).Start != 0 || b.At(1).Start != 2048 {
			t.Fatalf("packets %+v %+v", b.At(0), b.At(1))
		}
		if r := q.pages[0].Given; r != 2 || page.Meta().Refs != pagepool.Bias {
			t.Errorf("%d references handed out, %d on the page", r, page.Meta().Refs)
		}
		if freeFirst {
			q.Free(b)
			if r := page.Meta().Refs; r != pagepool.Bias-2 {
				t.Errorf("%d references left, want %d", r, pagepool.Bias-2)
			}
		}
		out := q.Pool().Books().Out
		q.release(0)
		if want := out - 64; freeFirst && q.Pool().Books().Out != want {
			t.Errorf("%d pages out, want %d", q.Pool().Books().Out, want)
		}
		if !freeFirst {
			if r := page.Meta().Refs; r != 2 {
				t.Errorf("%d references left, want 2", r)
			}
			q.Free(b)
		}
		if r := page.Meta().Refs; r != 0 {
			t.Errorf("%d references left, want 0", r)
		}
	}
}

// Frames longer than the MTU are dropped, also where the stride has room, and
// the last one of a WQE runs into the filler page and not into the next WQE.
func TestLinearOversize(t *testing.T) {
	q, d := open(t, Config{}, poisoned())
	for i := range 128 {
		n := 1518
		if i%2 == 1 || i == 127 {
			n = 1519 + i*4 // up to 2027: more than a stride behind its headroom
		}
		d.send(tcpFrame(n))
	}
	d.send(tcpFrame(600))
	d.plain()
	b := receive(t, q)
	s := q.Stats()
	if b.Len() != 65 || s.OversizePktsSWDrop != 64 || s.Drops[packet.DropOversize] != 64 ||
		!s.Balanced() {
		t.Errorf("%d packets, %+v", b.Len(), s)
	}
	if got := contents(b, 64); !bytes.Equal(got, tcpFrame(600)) {
		t.Error("the first frame of the second WQE differs")
	}
	q.Free(b)
}

// A frame that takes more than one stride is longer than the MTU, and the next
// one is found behind it.
func TestLinearOversizeTwoStrides(t *testing.T) {
	q, d := open(t, Config{}, nil)
	d.send(tcpFrame(3000))
	d.send(tcpFrame(60))
	d.plain()
	b := receive(t, q)
	if b.Len() != 1 || b.At(0).Start != 0 || b.At(0).Head != q.pages[1].Page {
		t.Errorf("%d packets", b.Len())
	}
	q.Free(b)
}

// Every length a queue can be asked for arrives whole, in a domain where
// memory that is not synced is poison.
func TestEveryLength(t *testing.T) {
	for _, cfg := range []Config{
		{}, {Type: Cyclic}, {Memory: Memory{Headroom: 256}}, {MTU: 3690},
		{Offloads: Offloads{LRO: true}}, // nonlinear
		{Offloads: Offloads{LRO: true}, HeaderCopy: Fixed256},
	} {
		q, d := open(t, cfg, poisoned())
		for n := 1; n <= q.plan.MaxFrame; n += 1 + n/97 {
			frame := tcpFrame(max(n, 54))[:n]
			b, p := one(t, q, d, frame)
			if int(p.Len) != n {
				t.Fatalf("%d bytes, want %d", p.Len, n)
			}
			q.Free(b)
		}
	}
}

// The link type comes from the completion; one that does not exist is opaque,
// and never Ethernet.
func TestLinkType(t *testing.T) {
	if header.LinkOpaque != header.NumLinkTypes-1 {
		t.Fatal("linkOf needs LinkOpaque to be the last")
	}
	for _, cfg := range []Config{{}, {MTU: 9000}, {Type: Cyclic}} {
		q, d := open(t, cfg, nil)
		for l := range 256 {
			d.send(tcpFrame(100))
			d.last().SetFlowMeta(uint32(l) | 0xabcd00)
		}
		d.plain()
		b := receive(t, q)
		if b.Len() != 256 {
			t.Fatalf("%d packets", b.Len())
		}
		for l := range 256 {
			if want := min(header.LinkType(l), header.LinkOpaque); b.At(l).Link != want {
				t.Errorf("link type %d arrives as %d", l, b.At(l).Link)
			}
		}
		q.Free(b)
	}
}
