package xdp

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// Random programs against a plain slice: whatever is called in whatever order,
// the frame is what the calls that were granted make of it, every page is in
// the frame or freed, and a refused call changes nothing.
func TestAgainstModel(t *testing.T) {
	seed, refs := testenv.Seed(t), pages(t, 4)
	for i := range testenv.Seeds(300) {
		program := make([]byte, 120)
		r := testenv.Rand(seed+uint64(i), 0)
		for k := range program {
			program[k] = byte(r.Uint32())
		}
		if runModel(t, refs, program); t.Failed() {
			t.Fatalf("SEED=%d", seed+uint64(i))
		}
	}
}

func FuzzBuff(f *testing.F) {
	f.Fuzz(func(t *testing.T, program []byte) { runModel(t, pages(t, 4), program) })
}

// runModel takes a layout and calls, two bytes each, from program.
func runModel(t *testing.T, refs []mem.Ref, program []byte) {
	if len(program) < 3 {
		return
	}
	n, head := int(program[0])*40, int(program[1])
	head = min(head, n)
	traits := Traits{FragBytes: 4096 * int(program[2]&1)}
	b := cutInto(refs, n, head, traits)
	held := b.NumFrags()
	m := &model{t: t, b: b, frame: pattern(n), tag: program[:2]}
	for p := program[3:]; len(p) >= 2; p = p[2:] {
		delta := int(int8(p[1]))
		if p[0]&0x80 != 0 {
			delta *= 40
		}
		before := *b
		if !m.call(p[0]%7, delta) && !same(b, &before) {
			t.Errorf("call %d of %d refused, but the buffer changed", p[0]%7, delta)
		}
		if !bytes.Equal(whole(t, b), m.frame) || !bytes.Equal(b.Meta(), m.meta) {
			t.Fatalf("behind call %d of %d the frame differs", p[0]%7, delta)
		}
		if b.NumFrags()+len(b.Freed()) != held || b.NumFrags() > packet.MaxFrags {
			t.Errorf("%d fragments and %d freed of %d", b.NumFrags(), len(b.Freed()), held)
		}
	}
}

// A model is a Buff and what should be in it.
type model struct {
	t           *testing.T
	b           *Buff
	frame, meta []byte
	tag         []byte // what is stored
}

// call makes one call and says whether it was granted.
func (m *model) call(which byte, delta int) (ok bool) {
	b := m.b
	switch which {
	case 0:
		if ok = b.AdjustHead(delta); ok && delta < 0 {
			clear(b.Data()[:-delta])
			m.frame = append(make([]byte, -delta), m.frame...)
		} else if ok {
			m.frame = m.frame[delta:]
		}
	case 1:
		if ok = b.AdjustTail(delta); ok {
			grown := append(m.frame, make([]byte, max(delta, 0))...)
			m.frame = grown[:len(m.frame)+delta]
		}
	case 2:
		if ok = b.AdjustMeta(delta); ok {
			for i := range b.Meta() {
				b.Meta()[i] = byte(delta + i)
			}
			m.meta = append(m.meta[:0], b.Meta()...)
		}
	case 3, 4:
		if ok = b.PullData(delta); ok && len(b.Data()) < delta {
			m.t.Errorf("pulled %d, %d are linear", delta, len(b.Data()))
		}
	case 5:
		if ok = b.Store(delta, m.tag); ok {
			copy(m.frame[delta:], m.tag)
		}
	case 6:
		got := make([]byte, 3)
		if ok = b.Load(delta, got); ok && !bytes.Equal(got, m.frame[delta:delta+3]) {
			m.t.Errorf("load at %d differs", delta)
		}
	}
	return ok
}
