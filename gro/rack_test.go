package gro

import (
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A shape is how the memory of a packet is laid out.
type shape int

const (
	linear    shape = iota // all in a page slice
	paged                  // a page slice, then fragments
	split                  // headers in a small head, payload in fragments
	fixedHead              // the first bytes in a small head, payload or not
	numShapes
)

// A rack builds packets as a receive queue does, and takes them back.
type rack struct {
	t      testing.TB
	slab   *packet.Slab
	region *mem.Region
}

const rackPage = 4096

func newRack(t testing.TB, pages int) *rack {
	t.Helper()
	slab, err := packet.NewSlab(pages, mem.Heap)
	if err != nil {
		t.Fatal(err)
	}
	region, err := mem.Open(mem.Config{PageBytes: rackPage, Pages: pages, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slab.Close(); region.Close() })
	return &rack{t, slab, region}
}

func (k *rack) page() mem.Ref {
	var ref [1]mem.Ref
	if k.region.Alloc(ref[:]) != 1 {
		k.t.Fatal("no page left")
	}
	return ref[0]
}

// build makes a packet of a frame. It names as many pages as it has references.
func (k *rack) build(f []byte, s shape, r *rand.Rand) uint32 {
	i := k.slab.Get()
	p := k.slab.At(i)
	*p = packet.Packet{}
	n := len(f)
	switch s {
	case linear, paged:
		if s == paged {
			n = min(n, 200+r.IntN(60)) // all headers
		}
		p.Head, p.Data, p.HeadKind = k.page(), packet.HeadRoom, packet.HeadPage
		p.Room = uint32(packet.HeadRoom+n+63) &^ 63
		p.Truesize = p.Room + packet.SharedBytes + packet.RecordBytes
	default:
		if n = header.Length(header.LinkEthernet, f); s == fixedHead {
			n = min(len(f), packet.SmallBytes)
		}
		k.slab.GetSmall(p)
	}
	p.Linear, p.Len = uint32(n), uint32(len(f))
	copy(p.Bytes(), f)
	sh := p.Shared()
	*sh = packet.SharedInfo{}
	for rest := f[n:]; len(rest) > 0; {
		take := min(len(rest), rackPage)
		if s != linear && r.IntN(2) == 0 && sh.NumFrags < 3 && len(rest) > 300 {
			take = 300
		}
		g := packet.Frag{Ref: k.page(), Off: uint32(rackPage - take), Len: uint32(take)}
		copy(g.Bytes(), rest)
		sh.Frags[sh.NumFrags] = g
		sh.NumFrags++
		p.Truesize += g.Len
		rest = rest[take:]
	}
	return i
}

// bytes are all bytes of a packet, those of chained ones included. It checks
// the lengths on the way.
func (k *rack) bytes(i uint32) []byte {
	p := k.slab.At(i)
	b := append([]byte(nil), p.Bytes()...)
	sh := p.Shared()
	for _, f := range sh.Frags[:sh.NumFrags] {
		b = append(b, f.Bytes()...)
	}
	truesize := uint32(0)
	for c := sh.Chain; c != 0; c = k.slab.At(c).Next {
		b = append(b, k.bytes(c)...)
		truesize += k.slab.At(c).Truesize
		if k.slab.At(c).Next == 0 && sh.Last != c {
			k.t.Errorf("Last is %d, the chain ends at %d", sh.Last, c)
		}
	}
	if len(b) != int(p.Len) {
		k.t.Errorf("Len is %d, the packet has %d bytes", p.Len, len(b))
	}
	if truesize > p.Truesize {
		k.t.Errorf("Truesize is %d, that of the chained packets %d", p.Truesize, truesize)
	}
	return b
}

// free takes a packet back, as rx.Queue.Free does.
func (k *rack) free(i uint32) {
	p := k.slab.At(i)
	sh := p.Shared()
	for _, f := range sh.Frags[:sh.NumFrags] {
		k.region.Release(f.Ref)
	}
	for c := sh.Chain; c != 0; {
		n := k.slab.At(c).Next
		k.free(c)
		c = n
	}
	if p.HeadKind == packet.HeadPage {
		k.region.Release(p.Head)
	}
	k.slab.Free(i)
}

// empty fails the test unless everything came back.
func (k *rack) empty() {
	k.t.Helper()
	pages := k.region.Pages() - k.region.Free()
	if pages != 0 || k.slab.InUse() != 0 || k.slab.HeadsInUse() != 0 {
		k.t.Errorf("%d pages, %d packets, %d small heads were lost", pages, k.slab.InUse(),
			k.slab.HeadsInUse())
	}
}

// outcomes is what a batch holds; its packets go back.
func (k *rack) outcomes(b *packet.Batch) (out []outcome) {
	for n := range b.Len() {
		p := b.At(n)
		g := p.Shared().GSO
		o := outcome{data: k.bytes(b.Index(n)), flags: vnetFlags[p.CSumKind],
			kind: vnetTypes[g.Type], size: int(g.Size), segs: max(1, int(g.Segs)),
			csumStart: int(g.CSumStart), csumOffset: int(g.CSumOffset), gso: g.Flags}
		if g.Size != 0 && (p.L4 != g.CSumStart || p.Payload != g.HdrLen) {
			k.t.Errorf("offsets %d, %d of a merged packet, GSO says %d, %d", p.L4, p.Payload,
				g.CSumStart, g.HdrLen)
		}
		out = append(out, o)
		k.free(b.Index(n))
	}
	b.Reset()
	return out
}

// table runs packets through a Table in batches of size.
func (k *rack) table(c Config, packets []uint32, size int) (out []outcome, s Stats) {
	t, err := New(c, k.slab)
	if err != nil {
		k.t.Fatal(err)
	}
	in, done := packet.NewBatch(k.slab, size), packet.NewBatch(k.slab, len(packets))
	for len(packets) > 0 {
		n := min(size, len(packets))
		for _, i := range packets[:n] {
			in.Add(i)
		}
		packets = packets[n:]
		t.Receive(in, done)
		out = append(out, k.outcomes(done)...)
	}
	t.Flush(done)
	out = append(out, k.outcomes(done)...)
	if t.Held() != 0 {
		k.t.Errorf("%d packets held after Flush", t.Held())
	}
	return out, t.Stats()
}
