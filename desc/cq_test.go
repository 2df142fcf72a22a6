package desc

import "testing"

func newCQ(t testing.TB, log int, c Compression) *CQ {
	t.Helper()
	q, err := NewCQ(log, c, MiniCSumStride)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestOwnWord(t *testing.T) {
	q := newCQ(t, 6, CompressNone)
	c := q.At(64)
	if c != &q.Entries[0] {
		t.Fatal("counter 64 is not slot 0 of 64")
	}
	c.Publish(PackOwn(0x03f0, OpRespSend, FormatCompressed, q.Lap(64)))
	if got, want := [4]byte(c[60:]), [4]byte{0x03, 0xf0, 0x01, 0x2d}; got != want {
		t.Errorf("bytes 60 to 63 are % x, want % x", got, want)
	}
	w := c.Own()
	if w.WQECounter() != 0x3f0 || w.Opcode() != OpRespSend || w.Format() != FormatCompressed {
		t.Errorf("word %#08x: counter %#x, opcode %d, format %d",
			uint32(w), w.WQECounter(), w.Opcode(), w.Format())
	}
}

// Memory that was never written is not ready in lap 0, and an entry of one lap
// is not ready in the next.
func TestReady(t *testing.T) {
	q := newCQ(t, 2, CompressNone)
	for lap := range uint32(600) {
		if lap > 0 {
			q.At(0).Publish(PackOwn(0, OpRespSend, FormatPlain, lap-1))
		}
		w := q.At(0).Own()
		if w.ReadyIn(lap) || w.ValidIn(lap) {
			t.Fatalf("lap %d: entry before it is ready: %v, valid: %v",
				lap, w.ReadyIn(lap), w.ValidIn(lap))
		}
		q.At(0).Publish(PackOwn(0, OpRespSend, FormatPlain, lap))
		if w = q.At(0).Own(); !w.ReadyIn(lap) || !w.ValidIn(lap) {
			t.Fatalf("lap %d: entry is not ready", lap)
		}
	}
}

func TestReinit(t *testing.T) {
	q := newCQ(t, 3, CompressEnhanced)
	q.Consumer.Ring(5)
	q.At(0).Publish(PackOwn(1, OpRespSend, FormatPlain, 0))
	q.Reinit()
	for i := range q.Entries {
		if got := [4]byte(q.Entries[i][60:]); got != [4]byte{0, 0, 0xff, 0xf1} {
			t.Errorf("slot %d holds % x, want op_own f1, validity ff", i, got)
		}
	}
	if q.Consumer.Load() != 0 {
		t.Errorf("consumer is %d", q.Consumer.Load())
	}
}

// facts/mlx5e.md 14: 64 entries, a session of 11 from counter 60.
func TestConsumedExample(t *testing.T) {
	q := newCQ(t, 6, CompressBasic)
	for i := range q.Entries {
		q.Entries[i][63] = 0xee
	}
	q.Consumed(60, 11)
	for slot := range 64 {
		want := uint8(0xee)
		switch {
		case slot >= 60:
			want = 0
		case slot <= 6:
			want = 1
		}
		if got := q.Entries[slot][63]; got != want {
			t.Errorf("slot %d: op_own %#02x, want %#02x", slot, got, want)
		}
	}
}

func TestNewCQErrors(t *testing.T) {
	for _, test := range []struct {
		log  int
		c    Compression
		f    MiniFormat
		text string
	}{
		{0, CompressNone, MiniHash, "desc: a CQ of 2^0 entries, want 2^1 to 2^22"},
		{23, CompressNone, MiniHash, "desc: a CQ of 2^23 entries, want 2^1 to 2^22"},
		{6, 3, MiniHash, "desc: compression 3 with mini format 0 is unknown"},
		{6, CompressBasic, 5, "desc: compression 1 with mini format 5 is unknown"},
	} {
		if _, err := NewCQ(test.log, test.c, test.f); err == nil || err.Error() != test.text {
			t.Errorf("NewCQ(%d, %d, %d): %v, want %q", test.log, test.c, test.f, err, test.text)
		}
	}
}

// Body first, word last: what is read behind a ready word is whole. Run with
// -race this also shows that the word orders the plain bytes.
func TestPublishOrders(t *testing.T) {
	q := newCQ(t, 4, CompressNone)
	const n = 2000
	go func() {
		for i := range uint32(n) {
			for i-q.Consumer.Load() >= 16 {
			}
			c := q.At(i)
			c.SetHash(i)
			c.Publish(PackOwn(uint16(i), OpRespSend, FormatPlain, q.Lap(i)))
		}
	}()
	for i := range uint32(n) {
		c := q.At(i)
		for !c.Own().ReadyIn(q.Lap(i)) {
		}
		if c.Hash() != i || c.Own().WQECounter() != uint16(i) {
			t.Fatalf("completion %d holds %d", i, c.Hash())
		}
		q.Consumer.Ring(i + 1)
	}
}
