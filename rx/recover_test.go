package rx

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// The syndromes of facts/mlx5e.md 2.6: three restart the queue, the others are
// counted. A flushed WQE brings no frame.
func TestSyndromes(t *testing.T) {
	for _, cfg := range []Config{{}, {Type: Cyclic}} {
		for s := desc.Syndrome(1); s < 0x30; s++ {
			q, d := open(t, cfg, nil)
			d.send(tcpFrame(100))
			d.fail(s)
			d.plain()
			b := receive(t, q)
			got := q.Stats()
			restarts := s == desc.LocalQPOp || s == desc.LocalProt || s == desc.WRFlush
			if b.Len() != 1 || got.WQEErr != 1 || (got.Recover == 1) != restarts ||
				!got.Balanced() || (got.Flushed == 1) != (s == desc.WRFlush) {
				t.Errorf("%v: %d packets, %+v", s, b.Len(), got)
			}
			q.Free(b)
			q.Close()
		}
	}
}

// A queue in error is taken through Reset once for all its error completions;
// the frames in front of them are delivered, held packets stay, all other
// pages come home, and it works again.
func TestRecoverOnce(t *testing.T) {
	for _, cfg := range []Config{
		{}, {MTU: 9000}, {Type: Cyclic}, {Offloads: Offloads{Compression: desc.CompressBasic}},
	} {
		q, d := open(t, cfg, poisoned())
		var held []*packet.Batch
		for i := range 5 {
			for range 20 {
				d.send(tcpFrame(300))
			}
			d.rq.Modify(desc.Ready, desc.Error)
			d.fail(desc.LocalProt)
			for range 6 {
				d.fail(desc.WRFlush)
			}
			d.plain()
			b := receive(t, q)
			held = append(held, b)
			s := q.Stats()
			if b.Len() != 20 || s.Recover != uint64(i+1) || s.Flushed != uint64(6*(i+1)) ||
				s.Drops[packet.DropErrorCQE] != uint64(i+1) || !s.Balanced() {
				t.Fatalf("%+v: %d packets, %+v", cfg, b.Len(), s)
			}
			if q.rq.State() != desc.Ready || q.posted == 0 {
				t.Fatalf("state %d, %d posted", q.rq.State(), q.posted)
			}
			law(t, q)
		}
		for _, b := range held {
			for i := range b.Len() {
				if string(contents(b, i)) != string(tcpFrame(300)) {
					t.Fatal("a held packet changed")
				}
			}
			q.Free(b)
		}
		law(t, q)
	}
}

// The device may stop without a word (a full CQ): the state says so.
func TestRecoverFromSilence(t *testing.T) {
	q, d := open(t, Config{}, nil)
	d.rq.Modify(desc.Ready, desc.Error)
	receive(t, q)
	if s := q.Stats(); s.Recover != 1 || q.rq.State() != desc.Ready {
		t.Errorf("%+v", s)
	}
	b, _ := one(t, q, d, tcpFrame(100))
	q.Free(b)
}

// An error of one frame costs its strides and no more.
func TestErrorTakesItsStrides(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, nil)
	for range 200 {
		d.send(tcpFrame(1000))
		last := &d.pending[len(d.pending)-1]
		last.op = desc.OpRespErr
		last.cqe.SetSyndrome(desc.LocalAccess, 0)
		d.plain()
		b, _ := one(t, q, d, tcpFrame(1000))
		q.Free(b)
	}
	if s := q.Stats(); s.Drops[packet.DropErrorCQE] != 200 || s.Recover != 0 || !s.Balanced() {
		t.Errorf("%+v", s)
	}
}

// A hostile completion is counted and the queue restarts; nothing is read or
// written outside, which in a page table would be a driver fault or a panic.
func TestHostileCompletions(t *testing.T) {
	counts := func(bc desc.ByteCount) func(*completion) {
		return func(c *completion) { c.cqe.SetByteCount(bc) }
	}
	for name, lie := range map[string]func(*completion){
		"wqe 8":             func(c *completion) { c.cqe.SetWQEID(8) },
		"wqe 4167":          func(c *completion) { c.cqe.SetWQEID(4167) },
		"wqe not posted":    func(c *completion) { c.cqe.SetWQEID(7) },
		"stride 128":        func(c *completion) { c.counter = 128 },
		"stride 65535":      func(c *completion) { c.counter = 65535 },
		"stride twice":      func(c *completion) { c.counter-- },
		"stride left out":   func(c *completion) { c.counter++ },
		"no strides":        counts(desc.PackByteCount(0, 100)),
		"too many strides":  counts(desc.PackByteCount(128, 100)),
		"all strides":       counts(desc.PackByteCount(0x7fff, 100)),
		"no bytes":          counts(desc.PackByteCount(1, 0)),
		"filler of nothing": counts(desc.FillerByteCount(0)),
		"filler too long":   counts(desc.FillerByteCount(200)),
		"opcode 0":          func(c *completion) { c.op = 0 },
		"opcode 6":          func(c *completion) { c.op = desc.OpNoPacket },
		"opcode 15":         func(c *completion) { c.op = desc.OpInvalid },
	} {
		q, d := open(t, Config{}, poisoned())
		for range 10 {
			d.send(tcpFrame(100))
		}
		lie(&d.pending[9])
		d.plain()
		b := receive(t, q)
		s := q.Stats()
		if b.Len() != 9 || s.WQEErr != 1 || s.Drops[packet.DropBadCQE] != 1 || s.Recover != 1 ||
			!s.Balanced() {
			t.Errorf("%s: %d packets, %+v", name, b.Len(), s)
		}
		q.Free(b)
		if k := q.Books(); k.Held != 0 || k.Packets != 0 {
			t.Errorf("%s: %+v", name, k)
		}
		b, _ = one(t, q, d, tcpFrame(1514))
		q.Free(b)
		law(t, q)
	}
}

// More bytes than the strides hold, by one and by all.
func TestHostileByteCount(t *testing.T) {
	for _, c := range []struct {
		cfg        Config
		strides, n uint16
	}{
		{Config{MTU: 9000}, 4, 1025}, {Config{MTU: 9000}, 1, 9018},
		{Config{MTU: 65517, Entries: 16}, 4, 65535},
	} {
		q, d := open(t, c.cfg, poisoned())
		d.send(tcpFrame(900))
		d.last().SetByteCount(desc.PackByteCount(c.strides, c.n))
		d.plain()
		b := receive(t, q)
		if s := q.Stats(); b.Len() != 0 || s.Drops[packet.DropBadCQE] != 1 || s.Recover != 1 {
			t.Errorf("%d bytes in %d strides: %+v", c.n, c.strides, s)
		}
	}
}

// A device that never lets the CQ run empty does not put the restart off.
func TestRestartIsNotPutOff(t *testing.T) {
	q, d := open(t, Config{Type: Cyclic, Entries: 8}, nil)
	b := packet.NewBatch(q.Slab(), 4)
	for i := range 40 {
		for range 4 { // always as many as the budget
			d.pending = append(d.pending, completion{op: desc.OpNoPacket})
		}
		d.plain()
		if q.Poll(b, 4); q.Stats().Recover > 0 {
			if i > 3 {
				t.Errorf("restarted after %d polls", i)
			}
			return
		}
	}
	t.Error("never restarted")
}

// What the device left behind in the ring is not taken for a completion: not
// before it wrote it, and not twice.
func TestStaleOwner(t *testing.T) {
	for c := range desc.CompressEnhanced + 1 {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			cfg := Config{Type: Cyclic, Entries: 8, Offloads: Offloads{Compression: c}}
			q, d := open(t, cfg, nil)
			for lap := range 600 {
				for range 1 + lap%3 {
					d.send(tcpFrame(60))
				}
				sent := len(d.pending)
				d.flush()
				got := 0
				for range 4 {
					b := receive(t, q)
					got += b.Len()
					q.Free(b)
				}
				if got != sent || q.cc != d.cc {
					t.Fatalf("round %d: %d of %d packets", lap, got, sent)
				}
			}
		})
	}
}

// Flush, flush, close: the pages of a queue that was stopped are not released
// again (facts/mlx5e.md 12, bugs 29 and 31).
func TestStopTwice(t *testing.T) {
	for _, cfg := range []Config{{}, {Type: Cyclic}} {
		q, d := open(t, cfg, nil)
		b, _ := one(t, q, d, tcpFrame(60))
		q.stop()
		q.stop()
		law(t, q)
		if k := q.Books(); k.Held != 1 || k.Posted+k.Waiting != 0 {
			t.Errorf("%+v", k)
		}
		q.Free(b)
	}
}

// Close fails while packets are out; they stay readable, Free takes them, and
// then it succeeds.
func TestCloseWithPacketsOut(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, poisoned())
	frame := tcpFrame(5000)
	b, _ := one(t, q, d, frame)
	if err := q.Close(); err == nil {
		t.Fatal("closed with a packet out")
	} else if got := err.Error(); got != "rx: close queue 0: 1 packets are not freed" {
		t.Error(got)
	}
	if string(contents(b, 0)) != string(frame) {
		t.Error("the packet changed")
	}
	q.Free(b)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}
