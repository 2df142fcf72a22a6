package gro

import (
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

// TestTableAgreesWithMerger: whatever the memory of the packets and the size of
// the batches, a Table gives what a Merger gives, and loses nothing.
func TestTableAgreesWithMerger(t *testing.T) {
	seed := testenv.Seed(t)
	k := newRack(t, 1024)
	var total Stats
	for n := range cases(600) {
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
				t.Fatalf("case %d, batches of %d:\ntable  %s\nmerger %s", n, size, text(got),
					text(want))
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

var attachCases = []struct {
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
}

// TestAttach: how payload is attached depends on its memory (facts/gro.md A.9).
func TestAttach(t *testing.T) {
	r := testenv.Rand(1, 1)
	for _, c := range attachCases {
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

// TestNoteLevel: what is verified here is added to what the device said.
func TestNoteLevel(t *testing.T) {
	for _, c := range []struct {
		config Config
		kind   packet.CSum
		level  uint8
		want   uint8
	}{
		{Config{}, packet.CSumNone, 0, 1},
		{Config{}, packet.CSumValid, 0, 1},
		{Config{}, packet.CSumValid, 1, 1},
		{Config{Verified: true}, packet.CSumNone, 0, 1},
		{Config{Verified: true}, packet.CSumValid, 0, 0},
	} {
		c.config.VXLAN = []uint16{header.PortVXLAN}
		k := newRack(t, 4)
		i := k.build(vxlan(one, 7, 5000, true, tcp4(one, seg(0, 9))), linear, nil)
		p := k.slab.At(i)
		p.CSumKind, p.Level = c.kind, c.level
		k.table(c.config, []uint32{i}, 1)
		if p.CSumKind != packet.CSumValid || p.Level != c.want {
			t.Errorf("%+v: level %d", c, p.Level)
		}
	}
}
