package xdp

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// pages opens a region on the heap and takes its pages.
func pages(t testing.TB, n int) []mem.Ref {
	t.Helper()
	r, err := mem.Open(mem.Config{Pages: n, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	refs := make([]mem.Ref, n)
	r.Alloc(refs)
	return refs
}

// same reports whether a call has changed nothing.
func same(b, before *Buff) bool { return reflect.DeepEqual(b, before) }

// pattern is n bytes of which no run repeats soon.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*131 + i>>8)
	}
	return b
}

// linear is a Buff with one piece of n bytes, HeadRoom in front and tail bytes
// of room behind, in the middle of a page.
func linear(t testing.TB, n, tail int) *Buff {
	t.Helper()
	page := pages(t, 1)[0]
	b := NewBuff(Traits{Queue: 3, Limit: uint32(HeadRoom + n + tail)})
	b.Reset(page, 128, uint32(n), new(desc.CQE))
	copy(b.Data(), pattern(n))
	return b
}

// cut is a Buff as a driver lays it out: head bytes of the frame linear, the
// rest in pages of fragBytes each.
func cut(t testing.TB, n, head int, traits Traits) *Buff {
	t.Helper()
	return cutInto(pages(t, 1+(n-head+4095)/4096), n, head, traits)
}

func cutInto(refs []mem.Ref, n, head int, traits Traits) *Buff {
	traits.Limit = HeadRoom + 256
	b := NewBuff(traits)
	b.Reset(refs[0], 0, uint32(head), new(desc.CQE))
	frame := pattern(n)
	frame = frame[copy(b.Data(), frame):]
	for k := 1; len(frame) > 0; k++ {
		m := min(len(frame), 4096)
		b.Append(packet.Frag{Ref: refs[k], Len: uint32(m)})
		frame = frame[copy(refs[k].Bytes(0, 4096), frame[:m]):]
	}
	return b
}

// whole is all bytes of the frame.
func whole(t testing.TB, b *Buff) []byte {
	t.Helper()
	p := append([]byte(nil), b.Data()...)
	for i := range b.NumFrags() {
		p = append(p, b.Frag(i)...)
	}
	if len(p) != b.Len() {
		t.Errorf("a frame of %d bytes has %d", b.Len(), len(p))
	}
	return p
}

func TestAdjustHead(t *testing.T) {
	for _, c := range []struct {
		n, delta int
		want     bool
	}{
		{60, 0, true}, {60, -216, true}, {60, -217, false}, {60, 46, true}, {60, 47, false},
		{14, 0, true}, {14, 1, false}, {14, -14, true}, {13, 0, false}, {0, -14, true},
		{0, -13, false}, {0, 0, false}, {60, math.MaxInt, false}, {60, math.MinInt, false},
	} {
		b := linear(t, c.n, 0)
		before := *b
		if got := b.AdjustHead(c.delta); got != c.want {
			t.Errorf("%d bytes, head by %d: %v", c.n, c.delta, got)
		}
		if !c.want && !same(b, &before) {
			t.Errorf("%d bytes, head by %d: refused, but changed", c.n, c.delta)
		}
		if c.want && b.Len() != c.n-c.delta {
			t.Errorf("%d bytes, head by %d: %d left", c.n, c.delta, b.Len())
		}
		if c.want && c.delta > 0 && !bytes.Equal(b.Data(), pattern(c.n)[c.delta:]) {
			t.Errorf("%d bytes, head by %d: other bytes", c.n, c.delta)
		}
	}
}

func TestAdjustMeta(t *testing.T) {
	b := linear(t, 60, 0)
	for _, c := range []struct {
		delta int
		want  bool
		n     int
	}{
		{-4, true, 4}, {-3, false, 4}, {4, true, 0}, {4, false, 0}, {-252, false, 0},
		{-216, true, 216}, {-4, false, 216}, {212, true, 4}, {math.MaxInt, false, 4},
		{math.MinInt, false, 4}, {0, true, 4},
	} {
		if got := b.AdjustMeta(c.delta); got != c.want || int(b.MetaBytes()) != c.n {
			t.Errorf("meta by %d: %v, %d bytes, want %d", c.delta, got, b.MetaBytes(), c.n)
		}
	}
	// It moves with the head, and takes the room of it.
	copy(b.Meta(), "abcd")
	if !b.AdjustHead(20) || string(b.Meta()) != "abcd" || !bytes.Equal(b.Data(), pattern(60)[20:]) {
		t.Errorf("metadata behind a move: %q", b.Meta())
	}
	if b.AdjustHead(-233) || !b.AdjustHead(-232) || string(b.Meta()) != "abcd" {
		t.Error("the head must leave room for metadata and record")
	}
	// With more headroom than a program has use for, 252 is the limit.
	b.meta, b.data, b.end = 400, 400, 460
	if b.AdjustMeta(-256) || !b.AdjustMeta(-252) {
		t.Error("the limit of metadata is 252")
	}
}

func TestAdjustTailLinear(t *testing.T) {
	for _, c := range []struct {
		delta int
		want  bool
	}{
		{0, true}, {100, true}, {101, false}, {-46, true}, {-47, false},
		{math.MaxInt, false}, {math.MinInt, false},
	} {
		b := linear(t, 60, 100)
		for i := range b.page.Bytes(b.base+b.end, 100) {
			b.page.Bytes(b.base+b.end, 100)[i] = 0xcc
		}
		before := *b
		if got := b.AdjustTail(c.delta); got != c.want {
			t.Errorf("tail by %d: %v", c.delta, got)
		}
		if !c.want && !same(b, &before) {
			t.Errorf("tail by %d: refused, but changed", c.delta)
		}
		if c.want {
			want := append(pattern(60), make([]byte, 100)...)[:60+c.delta]
			if !bytes.Equal(b.Data(), want) {
				t.Errorf("tail by %d: %d bytes, or not zero", c.delta, b.Len())
			}
		}
	}
	if b := linear(t, 13, 0); b.AdjustTail(0) {
		t.Error("a frame without an Ethernet header cannot be adjusted")
	}
}

// Shrinking frees fragments from the end, and then the linear part.
func TestAdjustTailFrees(t *testing.T) {
	for _, c := range []struct {
		head, delta, frags, freed int
		want                      bool
	}{
		{0, -256, 3, 0, true}, {0, -822, 2, 1, true}, {0, -823, 2, 1, true},
		{0, -9000, 1, 2, true}, {0, -9001, 3, 0, false}, {100, -8914, 0, 3, true},
		{100, -9000, 0, 3, true}, {100, -9001, 3, 0, false},
	} {
		b := cut(t, 9014, c.head, Traits{})
		if got := b.AdjustTail(c.delta); got != c.want {
			t.Errorf("%d linear, tail by %d: %v", c.head, c.delta, got)
		}
		if b.NumFrags() != c.frags || len(b.Freed()) != c.freed {
			t.Errorf("%d linear, tail by %d: %d fragments, %d freed",
				c.head, c.delta, b.NumFrags(), len(b.Freed()))
		}
		want := pattern(9014)
		if c.want {
			want = want[:9014+c.delta]
		}
		if !bytes.Equal(whole(t, b), want) {
			t.Errorf("%d linear, tail by %d: other bytes", c.head, c.delta)
		}
	}
}

// The last fragment grows inside its buffer, by zeroes. The room is signed
// (facts/mlx5e.md 12, bug 48).
func TestAdjustTailGrowsFragment(t *testing.T) {
	for _, c := range []struct {
		fragBytes int
		frag      packet.Frag
		delta     int
		want      bool
	}{
		{4096, packet.Frag{Len: 822}, 3274, true},
		{4096, packet.Frag{Len: 822}, 3275, false},
		{2048, packet.Frag{Off: 2048, Len: 2000}, 48, true},
		{2048, packet.Frag{Off: 2048, Len: 2000}, 49, false},
		{2048, packet.Frag{Off: 100, Len: 2048}, 1, false}, // beyond its buffer: room -100
		{2048, packet.Frag{Off: 100, Len: 2048}, math.MaxInt, false},
		{0, packet.Frag{Len: 822}, 1, false}, // a stride belongs to the next frame
	} {
		b := cut(t, 100, 100, Traits{FragBytes: c.fragBytes})
		c.frag.Ref = pages(t, 1)[0]
		for i := range c.frag.Ref.Bytes(0, 4096) {
			c.frag.Ref.Bytes(0, 4096)[i] = 0xcc
		}
		b.Append(c.frag)
		before := *b
		if got := b.AdjustTail(c.delta); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if !c.want {
			if !same(b, &before) {
				t.Errorf("%+v: refused, but changed", c)
			}
			continue
		}
		grown := b.Frag(0)[c.frag.Len:]
		if len(grown) != c.delta || !bytes.Equal(grown, make([]byte, c.delta)) {
			t.Errorf("%+v: grown by %d, or not zero", c, len(grown))
		}
	}
}

// The frame of facts/mlx5e.md 14: nothing linear, three fragments.
func TestPullData(t *testing.T) {
	for _, c := range []struct {
		pull, linear, frags, freed int
		first                      packet.Frag
		want                       bool
	}{
		{14, 14, 3, 0, packet.Frag{Off: 14, Len: 4082}, true},
		{0, 0, 3, 0, packet.Frag{Len: 4096}, true},
		{256, 256, 3, 0, packet.Frag{Off: 256, Len: 3840}, true},
		{472, 472, 3, 0, packet.Frag{Off: 472, Len: 3624}, true}, // 216 of headroom
		{473, 0, 3, 0, packet.Frag{Len: 4096}, false},
		{9015, 0, 3, 0, packet.Frag{Len: 4096}, false},
		{-1, 0, 3, 0, packet.Frag{Len: 4096}, false},
		{math.MinInt, 0, 3, 0, packet.Frag{Len: 4096}, false},
		{math.MaxInt, 0, 3, 0, packet.Frag{Len: 4096}, false},
	} {
		b := cut(t, 9014, 0, Traits{})
		c.first.Ref = b.Frags()[0].Ref
		if got := b.PullData(c.pull); got != c.want {
			t.Errorf("pull %d: %v", c.pull, got)
		}
		if len(b.Data()) != c.linear || b.NumFrags() != c.frags || len(b.Freed()) != c.freed ||
			b.Frags()[0] != c.first {
			t.Errorf("pull %d: %d linear, first %+v", c.pull, len(b.Data()), b.Frags()[0])
		}
		if !bytes.Equal(whole(t, b), pattern(9014)) {
			t.Errorf("pull %d: other bytes", c.pull)
		}
	}
}

// Fragments that are pulled whole are freed, and metadata moves along.
func TestPullDataFrees(t *testing.T) {
	b := cut(t, 100, 20, Traits{})
	small := b.Frags()[0]
	b.limit = HeadRoom + 30
	b.Reset(b.page, 0, 20, b.cqe)
	for off := uint32(0); off < 80; off += 20 {
		b.Append(packet.Frag{Ref: small.Ref, Off: off, Len: 20})
	}
	b.AdjustMeta(-8)
	copy(b.Meta(), "metadata")
	if !b.PullData(60) || b.NumFrags() != 2 || len(b.Freed()) != 2 || b.Start() != HeadRoom-30 {
		t.Errorf("%d fragments, %d freed, data at %d", b.NumFrags(), len(b.Freed()), b.Start())
	}
	if string(b.Meta()) != "metadata" || !bytes.Equal(whole(t, b), pattern(100)) {
		t.Errorf("metadata %q, or other bytes", b.Meta())
	}
	if !b.PullData(100) || b.NumFrags() != 0 || !bytes.Equal(b.Data(), pattern(100)) {
		t.Errorf("%d fragments behind a pull of all", b.NumFrags())
	}
	if !b.AdjustTail(-10) || !bytes.Equal(b.Data(), pattern(90)) {
		t.Error("a frame that became linear shrinks as one")
	}
}

func TestLoadStore(t *testing.T) {
	b := cut(t, 9014, 100, Traits{})
	got := make([]byte, 300)
	for _, off := range []int{0, 50, 99, 100, 4000, 4195, 4196, 8714} {
		if !b.Load(off, got) || !bytes.Equal(got, pattern(9014)[off:off+300]) {
			t.Errorf("load at %d", off)
		}
	}
	want := pattern(9014)
	for _, off := range []int{0, 60, 4150, 9004} {
		copy(want[off:], "0123456789")
		if !b.Store(off, []byte("0123456789")) {
			t.Errorf("store at %d", off)
		}
	}
	if !bytes.Equal(whole(t, b), want) {
		t.Error("stored bytes differ")
	}
	for _, off := range []int{-1, 8715, 9014, 9015, math.MaxInt, math.MinInt} {
		if b.Load(off, got) || b.Store(off, got) {
			t.Errorf("300 bytes at %d of 9014", off)
		}
	}
	if !b.Load(9014, nil) || !bytes.Equal(whole(t, b), want) {
		t.Error("a refused store changed the frame")
	}
}

// facts/mlx5e.md 6.6: what the completion does not say is not available.
func TestMetadata(t *testing.T) {
	c := new(desc.CQE)
	c.SetHash(0x11223344)
	c.SetTimestamp(99)
	c.SetVLAN(0xe123)
	b := NewBuff(Traits{Hash: true, Timestamps: true})
	b.Reset(pages(t, 1)[0], 0, 60, c)
	if _, _, ok := b.Hash(); ok {
		t.Error("a hash of no type")
	}
	if _, _, ok := b.VLAN(); ok {
		t.Error("a tag that was not stripped")
	}
	c.SetHashType(desc.HashIPv4 | desc.HashTCP)
	c.SetHdrType(desc.HdrVLANStripped)
	c.SetFlowMeta(200)
	hash, covers, ok := b.Hash()
	if !ok || hash != 0x11223344 || covers != desc.HashIPv4|desc.HashTCP {
		t.Errorf("hash %#x %#x %v", hash, covers, ok)
	}
	if typ, tci, ok := b.VLAN(); !ok || typ != header.TypeVLAN || tci != 0xe123 {
		t.Errorf("tag %#x %#x %v", typ, tci, ok)
	}
	if ns, ok := b.Timestamp(); !ok || ns != 99 {
		t.Errorf("time %d %v", ns, ok)
	}
	if b.Link() != header.LinkOpaque {
		t.Errorf("link %d", b.Link())
	}
	off := NewBuff(Traits{})
	off.Reset(b.page, 0, 60, c)
	if _, _, ok := off.Hash(); ok {
		t.Error("hash, though the queue has none")
	}
	if _, ok := off.Timestamp(); ok {
		t.Error("time, though the queue has none")
	}
}

func TestVerdicts(t *testing.T) {
	if Aborted != 0 || Drop != 1 || Pass != 2 || Tx != 3 || Redirect != 4 {
		t.Error("the numbers are the kernel's (enum xdp_action)")
	}
	if Tx.String() != "tx" || Verdict(9).String() != "verdict 9" {
		t.Errorf("%v %v", Tx, Verdict(9))
	}
}
