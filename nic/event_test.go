package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
)

const us = 1000 // ns

// An at is a Step at a time, with n frames posted before it; the driver looks
// for completions and arms behind it where it says so. fires: the events after
// it.
type at struct {
	us    int64
	n     int
	arm   bool // all that was completed has been looked for
	stale int  // so many have not, and the driver arms all the same
	fires uint32
}

// The table of moderation (facts/mlx5e.md 2.3, 7.6, 13).
func TestModeration(t *testing.T) {
	mod := func(usecs, frames int, cqe bool) desc.Moderation {
		return desc.Moderation{Usecs: usecs, Frames: frames, FromCQE: cqe}
	}
	for name, c := range map[string]struct {
		desc.Moderation
		steps []at
	}{
		"not armed": {desc.DefaultModeration, []at{{us: 100, n: 40}, {us: 200, n: 40}}},
		"armed, nothing comes": {desc.DefaultModeration,
			[]at{{us: 100, arm: true}, {us: 1000}, {us: 9000}}},
		"by count": {desc.DefaultModeration,
			[]at{{us: 1, arm: true}, {us: 2, n: 31}, {us: 3, n: 1, fires: 1},
				{us: 4, n: 32, fires: 1}}},
		"idle for longer than the period": {desc.DefaultModeration,
			[]at{{us: 1, arm: true}, {us: 16, n: 1, fires: 1}}},
		"by time since the event": {desc.DefaultModeration,
			[]at{{us: 1, arm: true}, {us: 20, n: 1, arm: true, fires: 1}, {us: 22, n: 1, fires: 1},
				{us: 35, fires: 1}, {us: 36, fires: 2}}},
		"by time since the completion": {mod(16, 32, true),
			[]at{{us: 1, arm: true}, {us: 20, n: 1}, {us: 30, n: 1}, {us: 45}, {us: 46, fires: 1}}},
		"count with time from the completion": {mod(16, 3, true),
			[]at{{us: 1, arm: true}, {us: 20, n: 1}, {us: 30, n: 2, fires: 1}}},
		"no moderation": {mod(0, 0, false),
			[]at{{us: 0, arm: true}, {us: 0, n: 1, arm: true, fires: 1}, {us: 0, n: 1, fires: 2}}},
		"frames only": {mod(4095, 2, false),
			[]at{{us: 1, arm: true}, {us: 2, n: 1}, {us: 4000}, {us: 4001, n: 1, fires: 1}}},
		"armed with a stale counter": {desc.DefaultModeration,
			[]at{{us: 1, n: 2}, {us: 2, stale: 1}, {us: 3, fires: 1}, {us: 50, n: 1, fires: 1}}},
		"once an arming": {mod(0, 1, false),
			[]at{{us: 1, arm: true}, {us: 2, n: 1, fires: 1}, {us: 99, n: 1, fires: 1}}},
		"armed twice": {mod(0, 1, false),
			[]at{{us: 1, arm: true}, {us: 1, arm: true}, {us: 2, n: 1, fires: 1},
				{us: 3, fires: 1}}},
	} {
		r := newSendRig(t, Config{}, 64)
		check(t, r.sq.CQ.Moderate(c.Moderation))
		for i, s := range c.steps {
			for range s.n {
				r.write(order{segs: []seg{part(0, 60)}})
			}
			r.now = s.us * us
			r.ring()
			if got := r.sq.CQ.Events(); got != s.fires {
				t.Errorf("%s, step %d: %d events, want %d", name, i, got, s.fires)
			}
			if s.arm || s.stale > 0 {
				r.takeCompletions(s.stale)
				r.sq.CQ.Arm(r.seen)
			}
			r.take()
		}
		if n := r.dev.Stats().CQEvents; n != uint64(c.steps[len(c.steps)-1].fires) {
			t.Errorf("%s: %d events counted", name, n)
		}
	}
}

// takeCompletions looks for all that was completed, but for the last few.
func (r *sendRig) takeCompletions(but int) {
	for _, _, ok := r.next(); ok; _, _, ok = r.next() {
	}
	r.seen -= uint32(but)
}

// A WQE may ask for the event at once (mode 3 of the control segment); that
// wish ends with the Step.
func TestEventAtOnce(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	check(t, r.sq.CQ.Moderate(desc.Moderation{Usecs: 1000, Frames: 1000}))
	wake := func() { r.write(order{segs: []seg{part(0, 60)}})[11] |= 0x0c }
	r.sq.CQ.Arm(0)
	wake()
	r.ring()
	if r.sq.CQ.Events() != 1 {
		t.Error("no event")
	}
	wake()
	r.ring() // not armed
	r.takeCompletions(0)
	r.sq.CQ.Arm(r.seen)
	r.write(order{segs: []seg{part(0, 60)}})
	r.ring()
	if r.sq.CQ.Events() != 1 {
		t.Error("the wish outlived its Step")
	}
}

// Errors wake the driver, too; a reset forgets the arming; and withheld
// completions raise no event before they come.
func TestEventEdges(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	check(t, r.sq.CQ.Moderate(desc.Moderation{}))
	r.sq.CQ.Arm(0)
	r.write(order{segs: []seg{part(0, 0)}})
	r.ring()
	if r.sq.CQ.Events() != 1 {
		t.Error("no event for an error")
	}
	r.sq.CQ.Arm(r.seen)
	r.reset()
	r.write(order{segs: []seg{part(0, 60)}})
	r.ring()
	if r.sq.CQ.Events() != 1 || !r.sq.CQ.Fired() {
		t.Error("the arming outlived the reset")
	}
	r.takeCompletions(0)
	r.sq.CQ.Arm(r.seen)
	r.dev.senders[0].mute = 2
	r.write(order{segs: []seg{part(0, 60)}})
	for i := range 3 {
		r.ring()
		if got, want := r.sq.CQ.Events(), uint32(1+i/2); got != want {
			t.Errorf("step %d: %d events, want %d", i, got, want)
		}
	}
}

// Receive queues have events as well, whatever the layout of their completions.
func TestReceiveEvents(t *testing.T) {
	for _, c := range []desc.Compression{desc.CompressNone, desc.CompressBasic,
		desc.CompressEnhanced} {
		b := newBench(t, compressing(c, desc.MiniCSum, 8), Config{On: Compress})
		check(t, b.rq.CQ.Moderate(desc.Moderation{Usecs: 4000, Frames: 6}))
		b.send(udp4(60), udp4(61))
		b.rq.CQ.Arm(b.cc)
		for i, n := range []int{0, 5, 1, 20} {
			for range n {
				b.wire.List = append(b.wire.List, Frame{Data: udp4(100)})
			}
			b.dev.Step(1000)
			if got, want := b.rq.CQ.Events(), uint32(i/2); got != want {
				t.Errorf("compression %d, step %d: %d events, want %d", c, i, got, want)
			}
		}
		b.rq.CQ.Arm(b.cc)
		b.dev.Step(1001)
		if b.rq.CQ.Events() != 2 {
			t.Errorf("compression %d: a stale arming raised no event", c)
		}
	}
}
