package gro

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
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

// TestTableAgreesWithMerger: whatever the memory of the packets and the size of
// the batches, a Table gives what a Merger gives, and loses nothing.
func TestTableAgreesWithMerger(t *testing.T) {
	seed := testenv.Seed(t)
	k := newRack(t, 1024)
	var total Stats
	for n := range testenv.Seeds(600) {
		r := testenv.Rand(seed, uint64(n))
		c := Config{Buckets: 1 << r.IntN(4), UDP: n%2 == 0, Verified: n%7 == 0}
		frames := sequence(r, 4, 70, c.UDP)
		if n%3 == 0 {
			c.VXLAN = []uint16{header.PortVXLAN}
			frames = inTunnels(r, frames, r.IntN(numTunnels), r.IntN(3) == 0)
		}
		want, _ := merge(t, c, frames...)
		for _, size := range []int{1, 8, 32, 64} {
			var packets []uint32
			for _, f := range frames {
				packets = append(packets, k.build(f, shape(r.IntN(int(numShapes))), r))
			}
			got, s := k.table(c, packets, size)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("case %d, batches of %d:\ntable  %s\nmerger %s", n, size, text(got), text(want))
			}
			if s.Packets != uint64(len(frames)) || s.Out != uint64(len(want)) ||
				s.Merged != s.ByFrags+s.ByChain {
				t.Fatalf("case %d: %+v of %d frames, %d out", n, s, len(frames), len(want))
			}
			total.ByFrags += s.ByFrags
			total.ByChain += s.ByChain
		}
		if k.empty(); t.Failed() {
			t.Fatalf("case %d", n)
		}
	}
	if total.ByFrags == 0 || total.ByChain == 0 {
		t.Errorf("%d merged by fragments, %d chained: want both", total.ByFrags, total.ByChain)
	}
}

// TestAttach: how payload is attached depends on its memory (facts/gro.md A.9).
func TestAttach(t *testing.T) {
	r := testenv.Rand(1, 1)
	for _, c := range []struct {
		name    string
		shape   shape
		n       int // packets of 1448 bytes
		frags   int // of the first
		byFrags uint64
		chained []int // fragments of each chained packet
	}{
		{"head pages become fragments", linear, 18, 17, 17, nil},
		{"then a packet is chained and takes 17 more", linear, 40, 17, 37, []int{17, 3}},
		{"fragments move over", split, 17, 17, 16, nil},
		{"then a packet is chained", split, 20, 17, 18, []int{3}},
		{"payload in a small head", fixedHead, 4, 1, 0, []int{1, 1, 1}},
		{"head page and fragments", paged, 5, 9, 4, nil},
	} {
		k := newRack(t, 256)
		table, err := New(Config{}, k.slab)
		if err != nil {
			t.Fatal(err)
		}
		in, out := packet.NewBatch(k.slab, c.n), packet.NewBatch(k.slab, c.n)
		truesize := uint32(0)
		for n := range c.n {
			f := tcp4(ipHdr{id: n}, tcpSeg{seq: 1448 * n, n: 1448})
			if c.shape == paged {
				f = tcp4(ipHdr{id: n}, tcpSeg{seq: 290 * n, n: 290}) // one fragment each
			}
			i := k.build(f, c.shape, r)
			p := k.slab.At(i)
			if sh := p.Shared(); sh.NumFrags > 1 {
				mergeFrags(k, sh)
			}
			truesize += p.Truesize
			in.Add(i)
		}
		table.Receive(in, out)
		table.Flush(out)
		if out.Len() != 1 {
			t.Fatalf("%s: %d packets", c.name, out.Len())
		}
		p := out.At(0)
		sh := p.Shared()
		var chained []int
		for i := sh.Chain; i != 0; i = k.slab.At(i).Next {
			chained = append(chained, int(k.slab.At(i).Shared().NumFrags))
		}
		s := table.Stats()
		if int(sh.NumFrags) != c.frags || s.ByFrags != c.byFrags ||
			!reflect.DeepEqual(chained, c.chained) {
			t.Errorf("%s: %d fragments, %d by fragments, chained %v", c.name, sh.NumFrags,
				s.ByFrags, chained)
		}
		freed := uint32(s.ByFrags) * packet.RecordBytes
		if c.shape == split {
			freed = uint32(s.ByFrags) * packet.SmallTruesize
		}
		if p.Truesize != truesize-freed {
			t.Errorf("%s: Truesize %d, want %d less %d", c.name, p.Truesize, truesize, freed)
		}
		k.outcomes(out)
		k.empty()
	}
}

// mergeFrags leaves one fragment: those that build cut lie in pages of their
// own, so their bytes are copied together.
func mergeFrags(k *rack, sh *packet.SharedInfo) {
	var b []byte
	for _, f := range sh.Frags[:sh.NumFrags] {
		b = append(b, f.Bytes()...)
	}
	for _, f := range sh.Frags[1:sh.NumFrags] {
		k.region.Release(f.Ref)
	}
	sh.NumFrags = 1
	sh.Frags[0].Off, sh.Frags[0].Len = uint32(rackPage-len(b)), uint32(len(b))
	copy(sh.Frags[0].Bytes(), b)
}

// TestHeadPageOfHeaders: a page that holds headers alone cannot go back from
// here, so its packet is chained.
func TestHeadPageOfHeaders(t *testing.T) {
	k := newRack(t, 8)
	var packets []uint32
	for n := range 2 {
		f := tcp4(ipHdr{id: n}, tcpSeg{seq: 100 * n, n: 100})
		i := k.build(f, paged, testenv.Rand(1, 1))
		k.free(i)
		i = k.build(f[:54], linear, nil)
		p := k.slab.At(i)
		g := packet.Frag{Ref: k.page(), Len: 100}
		copy(g.Bytes(), f[54:])
		p.Len, p.Shared().NumFrags, p.Shared().Frags[0] = 154, 1, g
		packets = append(packets, i)
	}
	if out, s := k.table(Config{}, packets, 2); len(out) != 1 || s.ByChain != 1 {
		t.Errorf("%d packets, %+v", len(out), s)
	}
	k.empty()
}

// TestKnownChecksums: what the device said is used, layer by layer.
func TestKnownChecksums(t *testing.T) {
	bad := func(n int) []byte { return tcp4(ipHdr{id: n}, tcpSeg{seq: 100 * n, n: 100, bad: true}) }
	good := func(n int) []byte { return tcp4(ipHdr{id: n}, tcpSeg{seq: 100 * n, n: 100}) }
	tunnel := func(n int, f []byte) []byte { return vxlan(ipHdr{id: n}, 7, 5000, true, f) }
	set := func(kind packet.CSum, level uint8) func(p *packet.Packet, f []byte) {
		return func(p *packet.Packet, f []byte) {
			p.CSumKind, p.Level, p.CSum = kind, level, checksum.Sum(f[14:])
		}
	}
	for _, c := range []struct {
		name   string
		frame  func(n int) []byte
		set    func(*packet.Packet, []byte)
		merged bool
		level  uint8
	}{
		{"not checked, good", good, set(packet.CSumNone, 0), true, 0},
		{"not checked, bad", bad, set(packet.CSumNone, 0), false, 0},
		{"valid is believed", bad, set(packet.CSumValid, 0), true, 0},
		{"complete, good", good, set(packet.CSumComplete, 0), true, 0},
		{"complete, bad", bad, set(packet.CSumComplete, 0), false, 0},
		{"partial never was on a wire", bad, set(packet.CSumPartial, 0), true, 0},
		{"valid outside, bad inside", func(n int) []byte { return tunnel(n, bad(n)) },
			set(packet.CSumValid, 0), false, 0},
		{"valid outside, good inside", func(n int) []byte { return tunnel(n, good(n)) },
			set(packet.CSumValid, 0), true, 0},
		{"valid in both layers", func(n int) []byte { return tunnel(n, bad(n)) },
			set(packet.CSumValid, 1), true, 0},
		{"complete over both layers", func(n int) []byte { return tunnel(n, good(n)) },
			set(packet.CSumComplete, 0), true, 0},
	} {
		k := newRack(t, 8)
		var packets []uint32
		for n := range 2 {
			f := c.frame(n)
			i := k.build(f, linear, nil)
			c.set(k.slab.At(i), f)
			packets = append(packets, i)
		}
		out, _ := k.table(Config{VXLAN: []uint16{header.PortVXLAN}}, packets, 2)
		if got := len(out) == 1; got != c.merged {
			t.Errorf("%s: %s", c.name, text(out))
		}
		k.empty()
	}
}

// TestPacketFields: what is not in the frame keeps packets apart.
func TestPacketFields(t *testing.T) {
	for name, change := range map[string]func(*packet.Packet){
		"nothing":            func(p *packet.Packet) {},
		"stripped tag":       func(p *packet.Packet) { p.TagType, p.TagTCI = header.TypeVLAN, 5 },
		"must not be merged": func(p *packet.Packet) { p.Flags |= packet.FlagFlush },
		"merged already as UDP": func(p *packet.Packet) {
			p.Flags |= packet.FlagLRO
			p.Shared().GSO = packet.GSO{Size: 100, Segs: 1, Type: packet.GSOUDP}
		},
		"hash": func(p *packet.Packet) { p.HashType, p.Hash = packet.HashL4, 99 },
	} {
		k := newRack(t, 8)
		var packets []uint32
		for n := range 3 {
			i := k.build(tcp4(ipHdr{id: n}, seg(100*n, 100)), linear, nil)
			if n == 1 {
				change(k.slab.At(i))
			}
			packets = append(packets, i)
		}
		out, _ := k.table(Config{}, packets, 3)
		want := 3
		if name == "nothing" || name == "hash" {
			want = 1
		}
		if len(out) != want {
			t.Errorf("%s: %d packets out, want %d", name, len(out), want)
		}
		k.empty()
	}
}
