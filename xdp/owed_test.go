package xdp

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// Fragments that are owed are laid out by what needs them, once, and by nothing
// else; a frame of which they are all still owed is as it came.
func TestOwed(t *testing.T) {
	refs := pages(t, 3)
	frags := []packet.Frag{{Ref: refs[1], Len: 4096}, {Ref: refs[2], Len: 1000}}
	for name, c := range map[string]struct {
		do              func(*Buff) bool
		laid, untouched bool
	}{
		"Len":        {func(b *Buff) bool { return b.Len() == 5096 }, false, true},
		"Data":       {func(b *Buff) bool { return len(b.Data()) == 0 }, false, true},
		"VLAN":       {func(b *Buff) bool { _, _, ok := b.VLAN(); return !ok }, false, true},
		"AdjustMeta": {func(b *Buff) bool { return b.AdjustMeta(-8) }, false, false},
		"AdjustHead": {func(b *Buff) bool { return b.AdjustHead(-20) }, false, false},
		"NumFrags":   {func(b *Buff) bool { return b.NumFrags() == 2 }, true, false},
		"Frag":       {func(b *Buff) bool { return len(b.Frag(1)) == 1000 }, true, false},
		"Load":       {func(b *Buff) bool { return b.Load(5000, make([]byte, 96)) }, true, false},
		"Store":      {func(b *Buff) bool { return b.Store(0, make([]byte, 5096)) }, true, false},
		"PullData":   {func(b *Buff) bool { return b.PullData(100) }, true, false},
		"AdjustTail": {func(b *Buff) bool { return b.AdjustTail(-1000) }, true, false},
		"grow":       {func(b *Buff) bool { return !b.AdjustTail(1) }, true, false},
	} {
		var b *Buff
		laid := 0
		b = NewBuff(Traits{Limit: HeadRoom + 256, Lay: func() {
			laid++
			b.Append(frags[0])
			b.Append(frags[1])
		}})
		b.Reset(refs[0], 0, 0, new(desc.CQE))
		b.Owe(5096)
		if !c.do(b) || (laid == 1) != c.laid || b.Untouched() != c.untouched {
			t.Errorf("%s: laid out %d times, untouched is %v", name, laid, b.Untouched())
		}
		n := b.Len()
		if b.Lay(); laid != 1 || b.Len() != n {
			t.Errorf("%s: laid out %d times in all, %d bytes of %d", name, laid, b.Len(), n)
		}
		if b.Reset(refs[0], 0, 60, new(desc.CQE)); b.NumFrags() != 0 || laid != 1 {
			t.Errorf("%s: the next frame has %d fragments", name, b.NumFrags())
		}
	}
}
