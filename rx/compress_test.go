package rx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// smallRing has a CQ of 64 entries, as the vectors of facts/mlx5e.md 14.
func smallRing(c desc.Compression) Config {
	return Config{Type: Cyclic, Entries: 64, Offloads: Offloads{Compression: c}}
}

// advance brings both sides to the same counter with plain completions.
func advance(t *testing.T, q *Queue, d *device, cc uint32) {
	t.Helper()
	for d.cc != cc {
		b, _ := one(t, q, d, tcpFrame(60))
		q.Free(b)
	}
}

// A session of 11 from slot 60 of 64: minis in slots 61 and 4, counters 60 to
// 70, and afterwards the owner bits of this lap and, behind the wrap, of the
// next.
func TestBasicSession(t *testing.T) {
	q, d := open(t, smallRing(desc.CompressBasic), poisoned())
	advance(t, q, d, 60)
	for i := range 11 {
		d.send(tcpFrame(100 + i))
		d.last().SetCheckSum(uint16(i))
		d.last().SetHdrType(desc.HdrIPv4 | desc.HdrTCPAckData)
	}
	d.basic()
	b := receive(t, q)
	if b.Len() != 11 || q.cc != 71 {
		t.Fatalf("%d packets, counter %d", b.Len(), q.cc)
	}
	for i := range 11 {
		p := b.At(i)
		if !bytes.Equal(contents(b, i), tcpFrame(100+i)) || p.CSum != uint16(i) {
			t.Errorf("packet %d: %d bytes, sum %d", i, p.Len, p.CSum)
		}
	}
	for counter := uint32(60); counter < 71; counter++ {
		if own := q.cq.At(counter).Own() & 0xff; own != desc.OwnWord(counter>>6&1) {
			t.Errorf("slot %d has op_own %#x", counter&63, own)
		}
	}
	s := q.Stats()
	if s.CQECompressBlks != 1 || s.CQECompressPkts != 11 || !s.Balanced() {
		t.Errorf("%+v", s)
	}
	q.Free(b)
}

// A session of one is read, as long as nobody wrote behind it.
func TestBasicSessionOfOne(t *testing.T) {
	q, d := open(t, smallRing(desc.CompressBasic), nil)
	for range 200 {
		d.send(tcpFrame(80))
		d.basic()
		b := receive(t, q)
		if b.Len() != 1 || b.At(0).Len != 80 {
			t.Fatalf("%d packets", b.Len())
		}
		q.Free(b)
	}
}

// A normal completion at counter 10, then one slot with 5 minis: the counter
// goes to 16 and slots 12 to 15 are not used.
func TestEnhancedSession(t *testing.T) {
	q, d := open(t, smallRing(desc.CompressEnhanced), poisoned())
	advance(t, q, d, 10)
	for i := range 6 {
		d.send(tcpFrame(200 + i))
	}
	d.enhanced()
	b := receive(t, q)
	if b.Len() != 6 || q.cc != 16 {
		t.Fatalf("%d packets, counter %d", b.Len(), q.cc)
	}
	for i := range 6 {
		if !bytes.Equal(contents(b, i), tcpFrame(200+i)) {
			t.Errorf("packet %d differs", i)
		}
	}
	q.Free(b)
}

// Sessions of every length at every place of the ring, taken one by one: what
// is left of a session is taken up by the next poll, and no slot that was not
// written looks ready a lap later (facts/mlx5e.md 12, bug 49).
func TestBasicBudget(t *testing.T) {
	for _, cfg := range []Config{
		smallRing(desc.CompressBasic),
		{Entries: 8, MTU: 8000, Type: Striding,
			Offloads: Offloads{Compression: desc.CompressBasic}},
	} {
		for _, budget := range []int{1, 3, 64} {
			t.Run(fmt.Sprintf("%d/%d", cfg.Type, budget), func(t *testing.T) {
				q, d := open(t, cfg, nil)
				b := packet.NewBatch(q.Slab(), 64)
				for n := 1; n <= 48; n++ { // a refill waits for 16 to be missing
					runSession(t, q, d, b, n, budget)
					advance(t, q, d, d.cc+1) // so that places differ
				}
			})
		}
	}
}

func runSession(t *testing.T, q *Queue, d *device, b *packet.Batch, n, budget int) {
	t.Helper()
	for i := range n {
		if !d.send(tcpFrame(60 + i)) {
			t.Fatalf("session of %d: nothing posted for frame %d", n, i)
		}
	}
	d.flush()
	sent := 0
	for range n + 2 { // a filler may be among them
		got := q.Poll(b, budget)
		if got > budget {
			t.Fatalf("session of %d: %d completions with a budget of %d", n, got, budget)
		}
		for i := range b.Len() {
			if !bytes.Equal(contents(b, i), tcpFrame(60+sent)) {
				t.Fatalf("session of %d: packet %d differs", n, sent)
			}
			sent++
		}
		q.Free(b)
	}
	if sent != n {
		t.Fatalf("session of %d: %d packets", n, sent)
	}
}

// A slot of minis is never split: with a budget that it exceeds it waits, and
// the budget is reported as used up; as the first of a poll it is taken whole.
func TestEnhancedNeverSplits(t *testing.T) {
	q, d := open(t, smallRing(desc.CompressEnhanced), nil)
	for i := range 8 {
		d.send(tcpFrame(60 + i))
	}
	d.enhanced() // a title and 7 minis
	b := packet.NewBatch(q.Slab(), 64)
	if n := q.Poll(b, 5); n != 5 || b.Len() != 1 || q.cc != 1 {
		t.Errorf("poll handled %d, %d packets, counter %d", n, b.Len(), q.cc)
	}
	if n := q.Poll(b, 5); n != 5 || b.Len() != 8 || q.cc != 8 {
		t.Errorf("poll handled %d, %d packets, counter %d", n, b.Len(), q.cc)
	}
	if s := q.Stats(); s.CQECompressPkts != 7 || s.CQECompressBlks != 1 || !s.Balanced() {
		t.Errorf("%+v", s)
	}
	q.Free(b)
	small := packet.NewBatch(q.Slab(), 6)
	for i := range 8 {
		d.send(tcpFrame(60 + i))
	}
	d.enhanced()
	for range 3 {
		q.Poll(small, 64)
	}
	if small.Len() != 1 {
		t.Errorf("%d packets in a batch that the minis do not fit", small.Len())
	}
	q.Free(small)
	if q.Poll(b, 64); b.Len() != 7 {
		t.Errorf("%d packets", b.Len())
	}
	q.Free(b)
}

// A poll may end on the title; laps beyond 256 wrap the validity byte.
func TestEnhancedLaps(t *testing.T) {
	q, d := open(t, Config{Type: Cyclic, Entries: 8,
		Offloads: Offloads{Compression: desc.CompressEnhanced}}, nil)
	b := packet.NewBatch(q.Slab(), 64)
	for i := range 3000 {
		runSession(t, q, d, b, 1+i%8, 64)
		if i%5 == 0 {
			runSession(t, q, d, b, 1, 1)
			d.send(tcpFrame(77))
			d.array(d.pending) // minis of the title that the last poll saved
			d.pending = d.pending[:0]
			if q.Poll(b, 64); b.Len() != 1 || b.At(0).Len != 77 {
				t.Fatalf("round %d: %d packets", i, b.Len())
			}
			q.Free(b)
			q.Poll(b, 0) // refills what that one used
		}
	}
}

// With compression the hash is the title's at most, so none is delivered.
func TestCompressionHasNoHash(t *testing.T) {
	for _, c := range []desc.Compression{desc.CompressBasic, desc.CompressEnhanced} {
		q, d := open(t, smallRing(c), nil)
		for range 3 {
			d.send(tcpFrame(60))
			d.last().SetHashType(desc.HashIPv4 | desc.HashTCP)
		}
		d.flush()
		b := receive(t, q)
		for i := range b.Len() {
			if b.At(i).HashType != packet.HashNone {
				t.Errorf("compression %d: packet %d has a hash", c, i)
			}
		}
		q.Free(b)
	}
}

// Nonsense in a session is counted, and the queue works again afterwards.
func TestNonsenseSessions(t *testing.T) {
	basic := func(n desc.ByteCount) func(*device) {
		return func(d *device) {
			d.send(tcpFrame(60))
			d.pending[0].cqe.SetByteCount(n)
			d.publish(&d.pending[0], desc.FormatCompressed)
			d.pending = d.pending[:0]
		}
	}
	for _, c := range []struct {
		name string
		kind desc.Compression
		send func(*device)
	}{
		{"basic of none", desc.CompressBasic, basic(0)},
		{"basic of more than the ring", desc.CompressBasic, basic(65)},
		{"basic of all bits", desc.CompressBasic, basic(0xffffffff)},
		{"enhanced without a title", desc.CompressEnhanced, func(d *device) {
			d.send(tcpFrame(60))
			d.array(d.pending)
			d.pending = d.pending[:0]
		}},
		{"enhanced with 8 minis", desc.CompressEnhanced, func(d *device) {
			d.send(tcpFrame(60))
			d.plain()
			d.rq.CQ.At(d.cc).Publish(desc.PackOwn(0, 7, desc.FormatCompressed, 0))
			d.cc += 8
		}},
		{"enhanced with 16 minis", desc.CompressEnhanced, func(d *device) {
			d.send(tcpFrame(60))
			d.plain()
			d.rq.CQ.At(d.cc).Publish(desc.PackOwn(0, 15, desc.FormatCompressed, 0))
			d.cc += 16
		}},
	} {
		q, d := open(t, smallRing(c.kind), poisoned())
		c.send(d)
		b := receive(t, q)
		s := q.Stats()
		if s.Recover != 1 || s.Drops[packet.DropBadCQE] != 1 || !s.Balanced() {
			t.Errorf("%s: %+v", c.name, s)
		}
		q.Free(b)
		for range 100 {
			b, _ := one(t, q, d, tcpFrame(90))
			q.Free(b)
		}
	}
}

// The title of before a restart is none afterwards.
func TestRestartForgetsTheTitle(t *testing.T) {
	q, d := open(t, smallRing(desc.CompressEnhanced), nil)
	b, _ := one(t, q, d, tcpFrame(60))
	q.Free(b)
	d.rq.Modify(desc.Ready, desc.Error)
	q.Free(receive(t, q))
	d.send(tcpFrame(60))
	d.array(d.pending)
	b = receive(t, q)
	if s := q.Stats(); b.Len() != 0 || s.Drops[packet.DropBadCQE] != 1 || s.Recover != 2 {
		t.Errorf("%d packets, %+v", b.Len(), s)
	}
}
