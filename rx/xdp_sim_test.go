package rx

import (
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

// attach gives half of the worlds a program that rewrites frames at random and
// gives any verdict.
func (w *world) attach(cfg *Config) {
	if cfg.Offloads.LRO || w.r.IntN(2) == 0 {
		return
	}
	cfg.XDP = xdp.Config{
		Program: w.program, Frags: true,
		Send: xdp.SendConfig{Blocks: 64, MaxFrame: cfg.MTU + 18 + 100*w.r.IntN(2)},
	}
}

// wire gives the world a device that sends, and now and then fails to.
func (w *world) wire() {
	near, far, err := nic.NewCable(32)
	if err != nil {
		w.t.Fatal(err)
	}
	var faults nic.Faults
	if w.r.IntN(2) == 0 {
		faults.Device = nic.DeviceFaults{Error: w.r.IntN(50), Hold: w.r.IntN(200)}
	}
	cfg := nic.Config{Seed: w.r.Uint64(), Faults: faults}
	w.far, w.dev = far, senderWith(w.t, w.q, near, cfg)
	if w.q.xdp == nil {
		return
	}
	err = w.q.SetTargets([]xdp.Target{{Handle: w.redirected}, {Send: w.q.SendQueue()}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// redirected compares what a handler is lent with what the program sent there.
func (w *world) redirected(frames []xdp.Frame) {
	for i := range frames {
		var got []byte
		for p := range frames[i].Pieces() {
			got = append(got, p...)
		}
		if !find(&w.handed, got) || len(got) != frames[i].Len {
			w.t.Errorf("a frame of %d bytes was handed over that was not redirected", len(got))
		}
	}
}

// program is handed each frame that was sent, in order, and notes what it
// makes of it.
func (w *world) program(b *xdp.Buff) xdp.Verdict {
	if got := w.bytes(b); !w.spoilt && !find(&w.sent, got) {
		w.t.Errorf("the program sees a frame of %d bytes that was not sent", len(got))
	}
	for range w.r.IntN(4) {
		w.rewrite(b)
	}
	v := []xdp.Verdict{0, 1, 2, 2, 2, 3, 3, 4, 4, 5}[w.r.IntN(10)]
	switch v {
	case xdp.Pass:
		w.passed = append(w.passed, w.bytes(b))
	case xdp.Tx:
		w.tx = append(w.tx, w.bytes(b))
	case xdp.Redirect:
		to := w.r.IntN(3)
		b.Redirect(to)
		if to == 0 {
			w.handed = append(w.handed, w.bytes(b))
		} else if to == 1 {
			w.tx = append(w.tx, w.bytes(b))
		}
	}
	return v
}

func (w *world) bytes(b *xdp.Buff) []byte {
	p := make([]byte, b.Len())
	b.Load(0, p)
	return p
}

func (w *world) rewrite(b *xdp.Buff) {
	switch w.r.IntN(6) {
	case 0:
		before := b.Len()
		if b.AdjustHead(w.r.IntN(300)-220) && b.Len() > before {
			b.Store(0, make([]byte, b.Len()-before)) // whatever was in the headroom
		}
	case 1:
		b.AdjustTail(w.r.IntN(9000) - 8800)
	case 2:
		b.AdjustMeta(4 * (w.r.IntN(60) - 50))
		for i := range b.Meta() {
			b.Meta()[i] = byte(i)
		}
	case 3:
		b.PullData(w.r.IntN(480))
	case 4:
		b.Store(w.r.IntN(1+b.Len()), []byte{1, 2, 3})
	case 5:
		for i := range b.Data() {
			b.Data()[i]++
		}
	}
}

// leave compares what has left by the cable with what the program sent.
func (w *world) leave() {
	for f := (nic.Frame{}); w.far.Next(1, &f); {
		if !find(&w.tx, f.Data) {
			w.t.Errorf("a frame of %d bytes left that the program did not send", len(f.Data))
		}
	}
}

// annotated checks the metadata in front of a packet.
func annotated(p *packet.Packet) bool {
	for i, m := range p.Head.Bytes(p.Start+p.Data-uint32(p.Meta), uint32(p.Meta)) {
		if m != byte(i) {
			return false
		}
	}
	return true
}
