package tx

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/packet"
)

// fail is a device that completes WQE number n of those it has with an error,
// and flushes the rest.
func (d *device) fail(n int) {
	d.step(n)
	for d.taken != uint16(d.sq.Producer.Load()) {
		c := d.sq.At(uint32(d.taken)).Control()
		d.complete(d.taken, desc.OpReqErr)
		d.taken += uint16(c.Segments()+3) / 4
	}
}

// An error in WQE 5 of 10: what was before it is done, the rest lost; then
// 1,000 packets, and what was mapped is what is unmapped (facts/mlx5e.md 12, bug
// 7: lists out of step unmap stale header.TagOffset).
func TestErrorCompletion(t *testing.T) {
	for _, without := range []Offload{0, MultiPacket} {
		for _, d := range modes {
			r := newRig(t, Config{Without: without}, d)
			for range 10 {
				r.add(66, 100)
			}
			r.post()
			r.dev.fail(5)
			r.reap()
			s := r.q.Stats()
			if r.home != 10 || s.Done != 5 || s.Lost != 5 || s.Recover != 1 || s.CQEErr == 0 {
				t.Errorf("%v: %d at home, %+v", d.Mode, r.home, s)
			}
			r.dev.sent = nil
			var want [][]byte
			for range 100 {
				for range 10 {
					want = append(want, r.add(66, 100, 30))
				}
				r.turn()
			}
			r.same(d.Mode.String(), want)
			if dom := r.dom.Stats(); dom.DriverFaults != 0 || dom.DeviceFaults != 0 {
				t.Errorf("%v: %+v", d.Mode, dom)
			}
			r.close()
		}
	}
}

// Completions that name nothing the device has restart the queue, wherever the
// lie is; everything is home once.
func TestLies(t *testing.T) {
	for name, lie := range map[string]func(*rig){
		"not posted":   func(r *rig) { r.dev.complete(300, desc.OpReq) },
		"inside a WQE": func(r *rig) { r.dev.complete(1, desc.OpReq) },
		"far off":      func(r *rig) { r.dev.complete(40000, desc.OpReq) },
		"done before":  func(r *rig) { r.dev.complete(65535, desc.OpReq) },
		"opcode":       func(r *rig) { r.dev.complete(0, desc.OpRespSend) },
		"twice": func(r *rig) {
			r.dev.complete(0, desc.OpReq)
			r.dev.complete(0, desc.OpReq)
		},
		"without a CQE": func(r *rig) { r.q.SQ().Modify(desc.Ready, desc.Error) },
	} {
		for _, c := range copybreaks {
			r := newRig(t, Config{Copybreak: c, BufBytes: 2048}, dma.Config{Mode: dma.Strict})
			i, _ := r.packetOf(tcp4Kind(), 1000, 0, 3000, 3000, 3000, 3000, 3000)
			r.put(i)
			for range 4 {
				r.add(66, 100)
				r.add(60)
			}
			r.post()
			lie(r)
			r.reap()
			if s := r.q.Stats(); s.Recover != 1 || r.home != 9 || s.InFlight != 0 {
				t.Errorf("%s, %v: %d at home, %+v", name, c, r.home, s)
			}
			want := [][]byte{r.add(66, 100)}
			r.turn()
			r.same(name, want)
			r.close()
		}
	}
}

// A device that goes silent is given up on, once a deadline, and what it had is
// counted; a queue without a deadline waits.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		timeout, after int64
		restarts       bool
	}{{0, 4e9, false}, {0, 5e9 + 1, true}, {1000, 1001, true}, {-1, 1e15, false}} {
		r := newRig(t, Config{TimeoutNs: c.timeout}, dma.Config{Mode: dma.Strict})
		r.q.Reap(0)
		r.add(66, 100)
		r.post()
		r.dev.mute = true
		r.dev.step(9)
		r.q.Reap(1)
		r.q.Reap(1 + c.after)
		s := r.q.Stats()
		if (s.Lost == 1) != c.restarts || (s.Timeout == 1) != c.restarts ||
			(r.home == 1) != c.restarts {
			t.Errorf("%+v: %+v", c, s)
		}
		r.dev.mute = false
		r.dev.sent = nil
		if c.restarts {
			want := [][]byte{r.add(66, 100)}
			r.now = 1 + c.after
			r.turn()
			r.same("behind the restart", want)
		}
		r.close()
		r.q.Reap(1e16) // a queue that is closed has no deadline (facts/mlx5e.md 12, bug 51)
		if after := r.q.Stats(); after.Recover != s.Recover || after.InFlight != 0 {
			t.Errorf("%+v: behind Close %+v", c, after)
		}
	}
}

// A packet that was being cut when the queue started over is lost once; those
// behind it are not.
func TestRestartWhileCutting(t *testing.T) {
	r := newRig(t, Config{Blocks: 64, Without: TSO}, dma.Config{Mode: dma.Bounce, Poison: true})
	i, _ := r.packetOf(tcp4Kind(), 100, 0, 4000, 4000, 4000, 4000, 4000)
	r.put(i)
	want := [][]byte{r.add(60)}
	r.post()
	if !r.q.cutter.on {
		t.Fatal("the ring is not full")
	}
	r.dev.fail(0)
	r.reap()
	s := r.q.Stats()
	if s.Lost != 1 || s.Posted != 1 || r.home != 1 || r.q.cutter.on || r.q.Stopped() {
		t.Errorf("%d at home, stopped %v, %+v", r.home, r.q.Stopped(), s)
	}
	r.dev.sent = nil
	r.turn()
	r.same("behind the restart", want)
}

// Close at any time: all is home once, twice is nothing, and the queue takes
// nothing any more.
func TestClose(t *testing.T) {
	for name, before := range map[string]func(*rig){
		"nothing":         func(*rig) {},
		"session open":    func(r *rig) { r.add(60); r.add(60); r.q.Post(r.batch) },
		"not rung":        func(r *rig) { r.add(60, 100); r.q.Post(r.batch) },
		"with the device": func(r *rig) { r.add(60, 100); r.post() },
		"done":            func(r *rig) { r.add(60, 100); r.post(); r.dev.step(9) },
		"half done": func(r *rig) {
			for range 2 {
				r.add(60, 100)
				r.post()
				r.dev.step(9 * (2 - len(r.dev.sent)))
			}
		},
		"cutting": func(r *rig) {
			i, _ := r.packetOf(kinds()[2], 30, 0, 3000)
			r.put(i)
			r.post()
		},
	} {
		for _, d := range modes {
			r := newRig(t, Config{Blocks: 64, Without: UDPSegmentation}, d)
			before(r)
			posted := r.q.count.posted
			r.close()
			s := r.q.Stats()
			if s.Done+s.Lost != posted || r.q.SQ().State() != desc.Reset {
				t.Errorf("%s: %+v", name, s)
			}
			if err := r.q.Close(); err != nil || r.q.Stats() != s {
				t.Errorf("%s: the second Close: %v, %+v", name, err, r.q.Stats())
			}
			r.q.Flush()
			r.q.Reap(1)
			if n := r.q.Post(packet.NewBatch(r.slab, 1)); n != 0 || !r.q.Stopped() {
				t.Errorf("%s: a closed queue takes packets", name)
			}
		}
	}
}

// Stats may be read by any goroutine.
func TestStatsFromOutside(t *testing.T) {
	r := newRig(t, Config{}, dma.Config{})
	done, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		for {
			select {
			case <-done:
				return
			default:
				if s := r.q.Stats(); s.Posted != s.Done+s.Lost+s.InFlight {
					r.t.Errorf("%+v", s)
				}
			}
		}
	}()
	for range 200 {
		r.add(66, 100)
		r.turn()
	}
	close(done)
	<-read
	n := 0
	s := r.q.Stats()
	for name, v := range s.Ethtool() {
		if n++; name == "packets" && v != 200 || name == "mapped" && v != 200 {
			t.Errorf("%s: %d", name, v)
		}
	}
	if n != 29 {
		t.Errorf("%d counters", n)
	}
}
