package port

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/xdp"
)

// frames counts frames that are somewhere.
type frames map[string]int

func (f frames) claim(frame []byte) error {
	if f[string(frame)] == 0 {
		return fmt.Errorf("a frame of %d bytes came out that nobody put in, or twice: % x",
			len(frame), frame[:min(len(frame), 80)])
	}
	f[string(frame)]--
	return nil
}

// programs are random programs, and what became of the frames they saw.
type programs struct {
	run       *run
	rand      *rand.Rand
	near, far *nic.End
	passed    frames
	sent      frames
	handed    frames
	err       error // the first, found where none can be returned
}

// attach gives the port a program and somewhere to send frames.
func (r *run) attach() {
	x := &programs{
		run: r, rand: r.rand, passed: frames{}, sent: frames{}, handed: frames{},
	}
	x.near, x.far, _ = nic.NewCable(1 + r.rand.IntN(64))
	c := &r.cfg
	if !c.NoGRO {
		// The device's verdict is about the frame that arrived: GRO would merge
		// what the program spoilt, and what is cut again has good checksums.
		c.RX.Offloads.Checksum = rx.ChecksumOff
	}
	c.RX.XDP = xdp.Config{Program: x.program, Frags: true, Send: xdp.SendConfig{Blocks: 64}}
	if r.rand.IntN(2) == 0 {
		c.Redirect = []xdp.Target{{Handle: x.handle}}
	}
	r.xdp = x
}

// program takes a frame that arrived, rewrites it and gives any verdict.
func (x *programs) program(b *xdp.Buff) xdp.Verdict {
	if x.run.honest {
		x.note(frames(x.run.traffic.sent).claim(content(b)))
	}
	for range x.rand.IntN(4) {
		x.rewrite(b)
	}
	v := xdp.Verdict(x.rand.IntN(5))
	switch v {
	case xdp.Pass:
		x.passed[string(content(b))]++
	case xdp.Tx:
		x.sent[string(content(b))]++
	case xdp.Redirect:
		b.Redirect(x.rand.IntN(4))
		x.sent[string(content(b))]++
		x.handed[string(content(b))]++
	}
	return v
}

func (x *programs) note(err error) {
	if x.err == nil {
		x.err = err
	}
}

func content(b *xdp.Buff) []byte {
	p := make([]byte, b.Len())
	b.Load(0, p)
	return p
}

func (x *programs) rewrite(b *xdp.Buff) {
	switch x.rand.IntN(5) {
	case 0:
		before := b.Len()
		if b.AdjustHead(x.rand.IntN(250)-200) && b.Len() > before {
			b.Store(0, make([]byte, b.Len()-before))
		}
	case 1:
		b.AdjustTail(x.rand.IntN(5000) - 4800)
	case 2:
		b.AdjustMeta(4 * (x.rand.IntN(60) - 50))
	case 3:
		b.PullData(x.rand.IntN(480))
	case 4:
		b.Store(x.rand.IntN(1+b.Len()), []byte{1, 2, 3})
	}
}

// handle is a target of Redirect.
func (x *programs) handle(list []xdp.Frame) {
	for i := range list {
		x.note(x.handed.claim(slices.Concat(slices.Collect(list[i].Pieces())...)))
	}
}

// leave takes what has left by the cable, now and then, so that it is full at
// times.
func (x *programs) leave() error {
	for f := (nic.Frame{}); x.rand.IntN(8) > 0 && x.far.Next(0, &f); {
		x.note(x.sent.claim(f.Data))
	}
	return x.err
}
