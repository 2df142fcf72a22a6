package xdp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/testenv"
)

// One doorbell and one completion for a poll's frames; the device sees the
// bytes that the CPU wrote (facts/mlx5e.md 6.4, 7.5).
func TestSend(t *testing.T) {
	r := newRig(t, SendConfig{Number: 9}, 4)
	b, want := r.frame(60)
	if !r.send(b) {
		t.Fatal("refused")
	}
	if r.dev.step(9); len(r.dev.sent) != 0 {
		t.Error("the device sees a frame before the doorbell")
	}
	b, second := r.frame(14, 1000, 500)
	r.send(b)
	r.q.Flush()
	r.dev.step(9)
	if len(r.dev.sent) != 2 || !bytes.Equal(r.dev.sent[0], want) ||
		!bytes.Equal(r.dev.sent[1], second) || r.dev.cc != 1 {
		t.Errorf("%d frames sent, %d completions", len(r.dev.sent), r.dev.cc)
	}
	r.law()
	r.q.Reap()
	r.law()
	if s := r.q.Stats(); s != (SendStats{Xmit: 2, CQEs: 1, Done: 2}) || r.q.InFlight() != 0 {
		t.Errorf("%+v, %d in flight", s, r.q.InFlight())
	}
}

// Sizes of facts/mlx5e.md 14 and 1.8: 60 bytes are 3 segments; an empty linear
// part has none; 18 pieces are 20, in 5 blocks.
func TestSendSizes(t *testing.T) {
	r := newRig(t, SendConfig{MaxFrame: 9018}, 4)
	frags := make([]int, 17)
	for i := range frags {
		frags[i] = 100
	}
	for _, c := range []struct {
		head  int
		frags []int
		want  uint16
	}{{60, nil, 3}, {0, []int{4000, 4000, 822}, 5}, {0, []int{60}, 3}, {14, frags, 20}} {
		b, _ := r.frame(c.head, c.frags...)
		if !r.send(b) {
			t.Fatal("refused")
		}
		r.q.Flush()
		r.dev.step(1)
		if got := r.dev.wqes[len(r.dev.wqes)-1]; got != c.want {
			t.Errorf("%d and %d fragments: %d segments, want %d", c.head, len(c.frags), got, c.want)
		}
	}
	if r.q.ring.Producer() != 1+2+1+5 {
		t.Errorf("%d blocks", r.q.ring.Producer())
	}
}

// No WQE crosses the edge of 4 KiB: NOPs fill the fragment (facts/mlx5e.md 14,
// and 12, bug 42).
func TestSendFragmentEdge(t *testing.T) {
	r := newRig(t, SendConfig{Blocks: 128, MaxFrame: 9018}, 4)
	for range 62 {
		b, _ := r.frame(60)
		r.send(b)
	}
	b, want := r.frame(60, 9, 9, 9, 9, 9, 9, 9, 9, 9) // 12 segments: 3 blocks
	r.send(b)
	r.q.Flush()
	r.dev.step(99)
	if s := r.q.Stats(); s.Nops != 2 || r.dev.nops != 2 || s.Xmit != 63 {
		t.Errorf("%+v, %d NOPs seen", s, r.dev.nops)
	}
	if n := len(r.dev.wqes); r.dev.wqes[n-2] != 64 || !bytes.Equal(r.dev.sent[62], want) {
		t.Errorf("the WQE begins at %d", r.dev.wqes[n-2])
	}
	r.q.Reap()
	if r.law(); r.q.InFlight() != 0 || r.q.ring.Free() != r.q.ring.Blocks() {
		t.Error("not all came home")
	}
}

// A ring full of frames with the most pieces does not overrun the list of
// pages (facts/mlx5e.md 12, bug 28); a full ring refuses, and holds nothing of
// what it refused (bug 16).
func TestSendFull(t *testing.T) {
	r := newRig(t, SendConfig{Blocks: 64}, 4)
	frags := make([]int, 17)
	for i := range frags {
		frags[i] = 80
	}
	b, _ := r.frame(14, frags...)
	for i := range 200 {
		if r.send(b) != (i < 12) { // 12 * 5 = 60 blocks; the rest is an edge
			t.Fatalf("frame %d", i)
		}
		r.law()
	}
	if s := r.q.Stats(); s.Full != 188 || s.Xmit != 12 || r.q.InFlight() != 12*18 {
		t.Errorf("%+v, %d in flight", s, r.q.InFlight())
	}
	r.dev.step(99) // Send rang the doorbell when it found no room
	if !r.send(b) {
		t.Error("room again, but refused")
	}
	r.law()
	r.q.Close()
	before := r.q.Stats()
	r.q.Close()
	if r.law(); r.q.InFlight() != 0 || r.q.SQ().State() != desc.Reset || r.q.Stats() != before {
		t.Errorf("%d in flight behind Close, %+v", r.q.InFlight(), r.q.Stats())
	}
	// The smallest frames fill every block.
	r = newRig(t, SendConfig{Blocks: 64}, 4)
	b, _ = r.frame(14)
	for i := range 65 {
		if r.send(b) != (i < 64) {
			t.Fatalf("frame %d", i)
		}
	}
	r.dev.step(99)
	r.q.Reap()
	if r.law(); r.q.InFlight() != 0 {
		t.Error("not all came home")
	}
}

func TestSendLengths(t *testing.T) {
	r := newRig(t, SendConfig{MaxFrame: 100}, 4)
	for _, c := range []struct {
		head, frag int
		want       bool
	}{{13, 0, false}, {14, 0, true}, {100, 0, true}, {101, 0, false}, {50, 51, false},
		{0, 13, false}, {0, 14, true}, {0, 0, false}} {
		var frags []int
		if c.frag > 0 {
			frags = []int{c.frag}
		}
		b, _ := r.frame(c.head, frags...)
		if r.send(b) != c.want {
			t.Errorf("%d and %d bytes: want %v", c.head, c.frag, c.want)
		}
	}
	if s := r.q.Stats(); s.Err != 5 || s.Xmit != 3 {
		t.Errorf("%+v", s)
	}
}

// An error completion: what was sent before it is done, the rest is lost, all
// pages come home, and the queue goes on (facts/mlx5e.md 3.10; 12, bug 7).
func TestSendRecovers(t *testing.T) {
	r := newRig(t, SendConfig{Blocks: 64}, 4)
	for range 10 {
		b, _ := r.frame(60, 100)
		r.send(b)
	}
	r.q.Flush()
	r.dev.step(5)
	r.dev.complete(5, desc.OpReqErr)
	for i := range uint16(4) {
		r.dev.complete(6+i, desc.OpReqErr) // flushed
	}
	r.q.SQ().Modify(desc.Ready, desc.Error)
	r.q.Reap()
	r.law()
	s := r.q.Stats()
	if s.Done != 5 || s.Lost != 5 || s.Recover != 1 || r.q.InFlight() != 0 {
		t.Errorf("%+v, %d in flight", s, r.q.InFlight())
	}
	for range 1000 {
		b, _ := r.frame(60, 100)
		r.send(b)
		r.q.Flush()
		r.dev.step(1)
		r.q.Reap()
		r.law()
	}
	if s := r.q.Stats(); s.Done != 1005 || s.Recover != 1 {
		t.Errorf("behind the restart: %+v", s)
	}
}

// Completions that name nothing the device has restart the queue.
func TestSendLies(t *testing.T) {
	for name, lie := range map[string]func(*rig){
		"not posted":  func(r *rig) { r.dev.complete(3, desc.OpReq) },
		"in a WQE":    func(r *rig) { r.dev.complete(1, desc.OpReq) },
		"far off":     func(r *rig) { r.dev.complete(40000, desc.OpReq) },
		"done before": func(r *rig) { r.dev.complete(65535, desc.OpReq) },
		"opcode":      func(r *rig) { r.dev.complete(0, desc.OpRespSend) },
		"twice": func(r *rig) {
			r.dev.complete(0, desc.OpReq)
			r.dev.complete(0, desc.OpReq)
		},
		"without a CQE": func(r *rig) { r.q.SQ().Modify(desc.Ready, desc.Error) },
	} {
		r := newRig(t, SendConfig{Blocks: 64}, 4)
		b, _ := r.frame(60, 10, 10) // 5 segments: blocks 0 and 1
		r.send(b)
		b, _ = r.frame(60)
		r.send(b)
		r.q.Flush()
		lie(r)
		r.q.Reap()
		if r.law(); r.q.Stats().Recover != 1 || r.q.InFlight() != 0 {
			t.Errorf("%s: %+v", name, r.q.Stats())
		}
		if r.send(b); r.q.ring.Producer() != 1 {
			t.Errorf("%s: the queue does not start over", name)
		}
	}
}

// The counters of blocks wrap at 2^16, and no page is lost on the way.
func TestSendSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Seeds(20) {
		t.Run("", func(t *testing.T) { simulateSend(t, seed+uint64(i), i%10 == 0) })
	}
}

// simulateSend is one seed; far along, the counters wrap on the way.
func simulateSend(t *testing.T, seed uint64, far bool) {
	r := newRig(t, SendConfig{Blocks: 64, MaxFrame: 9018}, 6)
	rng := testenv.Rand(seed, 0)
	for far && r.q.ring.Producer() < 65500 {
		b, _ := r.frame(14)
		r.send(b)
		r.q.Flush()
		r.dev.step(1)
		r.q.Reap()
	}
	r.dev.sent = nil
	var want [][]byte
	for range 300 {
		switch rng.IntN(6) {
		case 0, 1:
			frags := make([]int, rng.IntN(18))
			for k := range frags {
				frags[k] = 1 + rng.IntN(200)
			}
			b, bytes := r.frame(14+rng.IntN(500), frags...)
			if r.send(b) {
				want = append(want, bytes)
			}
		case 2:
			r.q.Flush()
		case 3, 4:
			r.dev.step(rng.IntN(30))
		case 5:
			r.q.Reap()
		}
		r.law()
	}
	r.q.Flush()
	r.dev.step(999)
	r.q.Reap()
	if r.law(); r.q.InFlight() != 0 || len(r.dev.sent) != len(want) {
		t.Fatalf("SEED=%d: %d in flight, %d of %d frames sent",
			seed, r.q.InFlight(), len(r.dev.sent), len(want))
	}
	for k := range want {
		if !bytes.Equal(want[k], r.dev.sent[k]) {
			t.Fatalf("SEED=%d: frame %d differs", seed, k)
		}
	}
}

func TestNewSendQueueRefuses(t *testing.T) {
	for want, cfg := range map[string]SendConfig{
		"32 blocks, want a power of two, 64 to 8192": {Blocks: 32},
		"of 100 blocks":                        {Blocks: 100},
		"MaxFrame is 13, want 14 to 65535":     {MaxFrame: 13},
		"number of the send queue is 16777216": {Number: 1 << 24},
	} {
		if _, err := NewSendQueue(cfg, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
