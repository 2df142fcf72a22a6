package rx

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

// A program that passes all changes no packet: in a nonlinear striding queue
// The vectors of facts/mlx5e.md 14: all of a jumbo frame is in fragments; of a
// frame whose headers end behind Ethernet, 14 bytes are pulled when it passes.
func TestXDPJumbo(t *testing.T) {
	var seen [][3]int
	cfg := Config{MTU: 9000, XDP: xdp.Config{Frags: true}}
	r := newXDPRig(t, cfg, func(b *xdp.Buff) xdp.Verdict {
		seen = append(seen, [3]int{len(b.Data()), b.NumFrags(), len(b.Frag(0))})
		return xdp.Pass
	})
	f := tcpFrame(9014)
	f[12], f[13] = 0x88, 0xb5 // an experimental EtherType
	b := r.receive(f)
	p := b.At(0)
	want := []cut{{0, 14, 4082}, {1, 0, 4096}, {2, 0, 822}}
	if p.Linear != 14 || p.Len != 9014 || !equalCuts(cuts(r.q, p), want) ||
		p.Truesize-packet.SmallTruesize != 4096+4096+1024 {
		t.Errorf("%+v, fragments %v", p, cuts(r.q, p))
	}
	if seen[0] != [3]int{0, 3, 4096} {
		t.Errorf("the program saw %v", seen)
	}
	for slot := range 4 {
		if got := r.q.pages[slot].Given; (got == 1) != (slot < 3) {
			t.Errorf("page %d gave %d references", slot, got)
		}
	}
	r.q.Free(b)
}

// A packet is built of what the program left (facts/mlx5e.md 12, bugs 3, 4, 5, 6
// and 30): whatever became of the fragments and of the frame, every page comes
// home when the queue closes, which the end of the test checks.
func TestXDPFreedFragments(t *testing.T) {
	edits := map[string]struct {
		do   func(*xdp.Buff) bool
		want func(f []byte) []byte
	}{
		"nothing": {func(b *xdp.Buff) bool { return true },
			func(f []byte) []byte { return f }},
		"shrink a little": {func(b *xdp.Buff) bool { return b.AdjustTail(-256) },
			func(f []byte) []byte { return f[:len(f)-256] }},
		"shrink fragments away": {func(b *xdp.Buff) bool { return b.AdjustTail(100 - b.Len()) },
			func(f []byte) []byte { return f[:100] }},
		"pull": {func(b *xdp.Buff) bool { return b.PullData(200) },
			func(f []byte) []byte { return f }},
		"pull and shrink": {func(b *xdp.Buff) bool {
			return b.PullData(400) && b.AdjustTail(200-b.Len())
		}, func(f []byte) []byte { return f[:200] }},
		"push in front": {func(b *xdp.Buff) bool {
			return b.AdjustHead(-20) && b.Store(0, make([]byte, 20))
		}, func(f []byte) []byte { return append(make([]byte, 20), f...) }},
		"pull and pop": {func(b *xdp.Buff) bool {
			return b.PullData(64) && b.AdjustHead(18)
		}, func(f []byte) []byte { return f[18:] }},
	}
	for layout, cfg := range layouts {
		cfg.XDP.Send.MaxFrame = 9100
		r := newXDPRig(t, cfg, pass)
		for name, e := range edits {
			for v := xdp.Aborted; v <= xdp.Redirect; v++ {
				r.q.SetProgram(func(b *xdp.Buff) xdp.Verdict {
					if !e.do(b) {
						t.Error("refused")
					}
					b.Redirect(0)
					return v
				}, true)
				if r.runEdit(v, e.want); t.Failed() {
					t.Fatalf("%s, %s, %v", layout, name, v)
				}
			}
		}
	}
}

func (r *xdpRig) runEdit(v xdp.Verdict, want func([]byte) []byte) {
	var out [][]byte
	r.q.SetTargets([]xdp.Target{{Handle: func(frames []xdp.Frame) {
		for i := range frames {
			var f []byte
			for p := range frames[i].Pieces() {
				f = append(f, p...)
			}
			out = append(out, f)
		}
	}}})
	for _, n := range []int{r.q.plan.MaxFrame, 1000, min(3600, r.q.plan.MaxFrame), 500} {
		f := tcpFrame(n)
		b := r.receive(f, f)
		for i := range b.Len() {
			if out = append(out, contents(b, i)); int(b.At(i).Len) != len(out[len(out)-1]) {
				r.t.Errorf("a packet says %d bytes", b.At(i).Len)
			}
		}
		out = append(out, r.sent()...)
		if v != xdp.Aborted && v != xdp.Drop && len(out) != 2 || len(out) > 2 {
			r.t.Errorf("%d frames came out: %+v", len(out), r.q.Stats())
		}
		for _, got := range out {
			if !bytes.Equal(got, want(f)) {
				r.t.Errorf("%d bytes came out of %d, or others", len(got), n)
			}
		}
		r.q.Free(b)
		out = nil
	}
	if k := r.q.Books(); k.Held != 0 || k.Packets != 0 || k.Sending != 0 {
		r.t.Errorf("%+v", k)
	}
}

// Frames of 14 to 17 bytes, of which a program leaves a linear part shorter
// than an Ethernet header, or nothing but one (facts/mlx5e.md 12, bugs 4 and 56).
func TestXDPShortHeads(t *testing.T) {
	var pull int
	r := newXDPRig(t, Config{MTU: 9000, XDP: xdp.Config{Frags: true}},
		func(b *xdp.Buff) xdp.Verdict {
			b.PullData(pull)
			if pull%2 == 1 && b.AdjustHead(-14) {
				b.Store(0, make([]byte, 14))
				b.AdjustTail(-3)
			}
			return xdp.Pass
		})
	for n := 1; n <= 20; n++ {
		for pull = range 18 {
			b := r.receive(tcpFrame(60)[:n])
			if p := b.At(0); p.Linear < min(14, p.Len) || len(contents(b, 0)) != int(p.Len) {
				t.Errorf("%d bytes, pull %d: %d linear of %d", n, pull, p.Linear, p.Len)
			}
			r.q.Free(b)
		}
	}
}

// The longest frames that a program may see have 16 fragments, so that the
// linear part can be one (facts/mlx5e.md 12, bug 55: no length is cut to 16
// bits on the way).
func TestXDPLongest(t *testing.T) {
	cfg := Config{MTU: 61678, Entries: 8, XDP: xdp.Config{Frags: true}}
	r := newXDPRig(t, cfg, func(b *xdp.Buff) xdp.Verdict {
		if !b.AdjustHead(-200) || !b.Store(0, make([]byte, 200)) || !b.PullData(472) {
			t.Error("refused")
		}
		return xdp.Pass
	})
	skip := tcpFrame(15 * 256)
	r.q.Free(r.receive(skip)) // the next begins in the last stride of a page
	f := tcpFrame(61696)
	b := r.receive(f)
	if p := b.At(0); p.Len != 61896 || !bytes.Equal(contents(b, 0)[200:], f) {
		t.Errorf("%+v", p)
	}
	r.q.Free(b)
}

// Non-Ethernet frames and MTU 8000: the link type is the completion's, for
// there is no packet, and no header is looked for in a frame that the program
// Both 2 KB buffers of a page go back out intact, with what the program wrote
// (facts/mlx5e.md 12, bug 52): where bytes lie in their page is what the device is
// A send queue that is full drops, counts, and holds nothing of what it
// Frames that are not sent when the queue closes come home (facts/mlx5e.md 12,
// A queue restarts under load while frames are being sent and slices of the
// Fragments are laid out for a program that asks for them. For one that does not,
// nothing is synced but what is without a program, or nothing at all.
func TestXDPLaidOnDemand(t *testing.T) {
	cfg := Config{MTU: 9000, XDP: xdp.Config{Frags: true}}
	for name, c := range map[string]struct {
		program xdp.Program
		want    uint64
	}{
		"pass": {pass, 256 + 9014 - 54},
		"drop": {drop, 0},
		"length": {func(b *xdp.Buff) xdp.Verdict {
			if b.Len() != 9014 || len(b.Data()) != 0 {
				t.Error("not a jumbo frame")
			}
			return xdp.Drop
		}, 0},
		"read": {read, 9014},
		"flip": {flip, 9014},
		"headroom": {func(b *xdp.Buff) xdp.Verdict {
			b.AdjustMeta(-4)
			return xdp.Drop
		}, 0},
		"send": {send, 9014},
	} {
		r := newXDPRig(t, cfg, c.program)
		r.q.Free(r.receive(tcpFrame(9014))) // takes the side page
		before := r.q.dom.Stats().SyncCPUBytes
		r.q.Free(r.receive(tcpFrame(9014)))
		if got := r.q.dom.Stats().SyncCPUBytes - before; got != c.want {
			t.Errorf("%s: %d bytes synced, want %d", name, got, c.want)
		}
		r.sent()
	}
}

// A slice is used again until a frame keeps it; four fill a page.
func TestXDPSidePage(t *testing.T) {
	verdict, pull := xdp.Drop, 300
	r := newXDPRig(t, Config{MTU: 9000, XDP: xdp.Config{Frags: true}},
		func(b *xdp.Buff) xdp.Verdict {
			if b.PullData(pull); len(b.Data()) > 0 && b.Data()[0] != tcpFrame(60)[0] {
				t.Error("other bytes")
			}
			return verdict
		})
	x := r.q.xdp
	for range 10 {
		r.receive(tcpFrame(1000))
	}
	first := x.side.Page
	if x.side.Given != 0 || first == 0 {
		t.Errorf("%d slices taken by frames that were dropped", x.side.Given)
	}
	verdict = xdp.Pass
	var held []*packet.Batch
	for i := range 8 {
		held = append(held, r.receive(tcpFrame(1000)))
		if x.side.Given != uint32(i%4+1) || (x.side.Page == first) != (i < 4) {
			t.Errorf("frame %d: %d slices taken", i, x.side.Given)
		}
	}
	pull = 100 // what is made linear fits the small head
	held = append(held, r.receive(tcpFrame(1000)))
	for _, b := range held {
		r.q.Free(b)
	}
}

// Programs are exchanged while the queue runs, none is put where there is no
// What the program leaves in front of the frame is in front of the packet, and
