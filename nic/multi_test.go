package nic

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// The worked examples of facts/mlx5e.md 14: 20 frames are 22 segments in 6
// blocks, the largest session is 60 segments with 58 frames.
func TestMultiGolden(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	for _, n := range []int{1, 20, 58} {
		o := order{op: desc.SendMulti}
		var want [][]byte
		for i := range n {
			f := pattern(14 + i)
			o.segs, want = append(o.segs, r.place(f, pageBytes)...), append(want, f)
		}
		if b := o.bytes(r); len(b) != 16*(2+n) {
			t.Errorf("%d frames: WQE of %d bytes", n, len(b))
		}
		c := r.write(o)
		r.ring()
		r.arrive(want...)
		r.completed(c)
	}
	if s := r.dev.Stats(); s.TxMultiSessions != 3 || s.TxMultiFrames != 79 || s.TxPacketsPhy != 79 {
		t.Errorf("%+v", s)
	}
}

// Sessions of pointers and inline segments in any mix, with checksums and a tag
// for all of their frames, by a cable that is full again and again.
func TestMultiMix(t *testing.T) {
	seed := testenv.Seed(t)
	r := newSendRig(t, Config{}, 5)
	for n := range testenv.Seeds(200) {
		rnd := testenv.Rand(seed, uint64(n))
		o := order{op: desc.SendMulti, sums: l3 | l4}
		var want [][]byte
		for room := 58; ; {
			f := summed{tcp4(segment{port: uint16(room), flags: ack, payload: rnd.IntN(300)}),
				map[desc.SendCSum]int{l3: 24, l4: 50}}
			if room -= (len(f.frame) + 19) / 16; room < 0 {
				break
			}
			want = append(want, f.frame)
			if b := f.spoil(rnd, l3|l4); rnd.IntN(2) == 0 {
				o.segs = append(o.segs, seg{inline: b})
			} else {
				for r.free%pageBytes+len(b) > pageBytes {
					r.free++ // a frame is one segment
				}
				o.segs = append(o.segs, r.place(b, pageBytes)...)
			}
		}
		if rnd.IntN(3) == 0 {
			o.tag = 9
			for i := range want {
				want[i] = tagged(header.TypeVLAN, 9, want[i])
			}
		}
		r.write(o)
		r.ring()
		sameFrames(t, fmt.Sprintf("case %d", n), r.drip(rnd), want)
		if _, w, ok := r.next(); !ok || w.Opcode() != desc.OpReq {
			t.Fatalf("case %d: not completed", n)
		}
	}
}

// A frame that cannot be read ends the session there; those before it are out,
// and counted.
func TestMultiFault(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	r.write(order{op: desc.SendMulti, segs: []seg{part(0, 60), part(60, 60), part(4090, 60),
		part(0, 60)}})
	r.ring()
	r.arrive(patterned(part(0, 60)), patterned(part(60, 60)))
	if e, w, ok := r.next(); !ok || w.Opcode() != desc.OpReqErr || e.Syndrome() != desc.LocalProt {
		t.Error("no error")
	}
	if s := r.dev.Stats(); s.TxMultiFrames != 2 || s.TxMultiSessions != 0 || s.TxErrors != 1 {
		t.Errorf("%+v", s)
	}
}
