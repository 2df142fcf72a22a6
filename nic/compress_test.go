package nic

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// compressing is a queue of 2048-byte strides with compressed completions.
func compressing(c desc.Compression, f desc.MiniFormat, logCQ int) layout {
	l := linear1500
	l.compression, l.format, l.logCQ = c, f, logCQ
	return l
}

// advance consumes n frames one by one, so that the next completion has
// counter n.
func (b *bench) advance(n int) {
	for range n {
		b.send(udp4(70))
	}
}

// facts/mlx5e.md 14: 64 entries, counter 60, 11 completions: the title in slot
// 60, minis 0 to 7 in slot 61, minis 8 to 10 in slot 4.
func TestBasicExample(t *testing.T) {
	b := newBench(t, compressing(desc.CompressBasic, desc.MiniCSumStride, 6), Config{On: Compress})
	b.advance(60)
	cq := b.rq.CQ
	before := bytes.Clone(cq.Entries[5][:])
	for i := range 11 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(100 + i)})
	}
	b.dev.Step(0)

	title := cq.Entries[60]
	if w := title.Own(); w.Format() != desc.FormatCompressed || !w.ReadyIn(0) ||
		w.Opcode() != desc.OpRespSend || w.WQECounter() != 60 || title.ByteCount() != 11 {
		t.Errorf("title % x", title)
	}
	for i := range 11 {
		slot := cq.At(61)
		if i >= 8 {
			slot = cq.At(68)
		}
		if m := slot.Mini(i); m.ByteCount() != desc.PackByteCount(1, uint16(100+i)) ||
			m.Stride() != uint16(60+i) {
			t.Errorf("mini %d is % x", i, *m)
		}
	}
	if !bytes.Equal(before, cq.Entries[5][:]) {
		t.Error("slot 5, which no mini lies in, was written")
	}
	got := b.poll()
	for i, p := range got {
		if want := udp4(100 + i); !bytes.Equal(p.data, want) || i > 0 && p.Hash() != 0 {
			t.Errorf("packet %d: %v", i, p)
		}
	}
	if s := b.dev.Stats(); len(got) != 11 || s.CQECompressBlks != 1 || s.CQECompressPkts != 11 {
		t.Errorf("%d packets, %+v", len(got), s)
	}
	for slot := range 64 { // 0 to 59 were plain, of lap 0
		want := uint8(0)
		if slot <= 6 {
			want = 1
		}
		if got := cq.Entries[slot].OpOwn() & 1; got != want {
			t.Errorf("slot %d has owner bit %d, want %d", slot, got, want)
		}
	}
}

// facts/mlx5e.md 14: a plain completion at counter 10 is the title, 5 minis in
// slot 11, and the next counter is 16.
func TestEnhancedExample(t *testing.T) {
	l := compressing(desc.CompressEnhanced, desc.MiniCSumStride, 6)
	b := newBench(t, l, Config{On: Compress, Off: Hash})
	b.dev.Set(Compress, false)
	b.advance(10)
	b.dev.Set(Compress, true)
	for i := range 6 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(100 + i)})
	}
	b.dev.Step(0)
	title, minis := b.rq.CQ.At(10), b.rq.CQ.At(11)
	if w := title.Own(); w.Format() != desc.FormatPlain || title.ByteCount() != 0x00010064 {
		t.Errorf("title % x", *title)
	}
	if w := minis.Own(); w.Format() != desc.FormatCompressed || w.Minis() != 5 || !w.ValidIn(0) ||
		minis.OpOwn()>>4 != 4 {
		t.Errorf("minis % x", *minis)
	}
	if m := minis.Mini(4); m.ByteCount() != desc.PackByteCount(1, 105) || m.Stride() != 15 {
		t.Errorf("mini 4 is % x", *m)
	}
	if got := b.poll(); len(got) != 6 || b.cc != 16 {
		t.Errorf("%d packets, counter %d", len(got), b.cc)
	}
}

// Budget, length of the run and place in the ring: every combination gives
// the same packets as without compression (facts/mlx5e.md 12, bug 49).
func TestCompressedEqualsPlain(t *testing.T) {
	for _, c := range []desc.Compression{desc.CompressBasic, desc.CompressEnhanced} {
		for f := desc.MiniHash; f <= desc.MiniL3L4Stride; f++ {
			t.Run(fmt.Sprintf("layout%d/format%d", c, f), func(t *testing.T) {
				for _, n := range []int{1, 2, 7, 8, 9, 17, 40} {
					sameAsPlain(t, c, f, n)
				}
			})
		}
	}
}

// sameAsPlain sends bursts of n frames through a ring of 64 entries, so that
// they begin at every offset.
func sameAsPlain(t *testing.T, c desc.Compression, f desc.MiniFormat, n int) {
	plain := newBench(t, compressing(desc.CompressNone, 0, 6), Config{})
	b := newBench(t, compressing(c, f, 6), Config{On: Compress})
	for round := range 64 {
		for i := range n {
			frame := udp4(60 + (round*7+i*13)%900)
			if (round+i)%11 == 0 {
				frame = tcp4(segment{seq: uint32(i), payload: 100}) // another title
			}
			plain.wire.List = append(plain.wire.List, Frame{Data: frame})
			b.wire.List = append(b.wire.List, Frame{Data: frame})
		}
		plain.dev.Step(0)
		b.dev.Step(0)
		want, got := plain.poll(), b.poll()
		if len(got) != len(want) {
			t.Fatalf("n %d, round %d: %d packets, want %d", n, round, len(got), len(want))
		}
		for i := range got {
			samePacket(t, f, &got[i], &want[i])
		}
	}
	s := b.dev.Stats()
	if n > 1 && s.CQECompressPkts == 0 {
		t.Errorf("n %d: nothing was compressed", n)
	}
}

// samePacket compares what minis of the format can carry.
func samePacket(t *testing.T, f desc.MiniFormat, got, want *received) {
	t.Helper()
	for _, p := range []*received{got, want} {
		p.SetOpOwn(0)
		p.CQE[62] = 0
		if f != desc.MiniHash {
			p.SetHash(0)
			p.SetHashType(0)
		}
		if f != desc.MiniCSum && f != desc.MiniCSumStride {
			p.SetCheckSum(0)
		}
	}
	if got.CQE != want.CQE || !bytes.Equal(got.data, want.data) {
		t.Fatalf("got\n%v, want\n%v", got, want)
	}
}

// A cyclic queue compresses without stride index.
func TestCompressCyclic(t *testing.T) {
	l := cyclic2
	l.cyclic.LogWQEs, l.logCQ = 6, 6
	l.compression, l.format = desc.CompressBasic, desc.MiniCSum
	b := newBench(t, l, Config{On: Compress})
	for n := 1; n < 60; n++ {
		var frames [][]byte
		for i := range n {
			frames = append(frames, udp4(60+i))
		}
		wantFrames(t, b.send(frames...), frames...)
	}
	if b.dev.Stats().CQECompressPkts == 0 {
		t.Error("nothing was compressed")
	}
}

// 300 laps with the same seven minis in the same slots: a slot that was passed
// over all the time does not look valid when the lap counter comes round.
func TestEnhancedLaps(t *testing.T) {
	l := compressing(desc.CompressEnhanced, desc.MiniCSumStride, 3)
	b := newBench(t, l, Config{On: Compress, Off: Hash})
	for round := range 600 {
		want := 8
		if round > 253 {
			want = 1 + round%7 // where slots were passed over, plain ones stand
		}
		frames := slicesOf(want, udp4(70))
		if got := b.send(frames...); len(got) != want {
			t.Fatalf("round %d: %d packets, want %d", round, len(got), want)
		}
	}
}

// A completion queue that compresses is served plain while the feature is off.
func TestCompressOff(t *testing.T) {
	b := newBench(t, compressing(desc.CompressBasic, desc.MiniCSumStride, 6), Config{})
	wantFrames(t, b.send(slicesOf(20, udp4(70))...), slicesOf(20, udp4(70))...)
	if s := b.dev.Stats(); s.CQECompressBlks != 0 {
		t.Errorf("%+v", s)
	}
}
