package xdp

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// What a driver needs of a Buff. A program has no use for these.

// NewBuff makes the Buff of a queue.
func NewBuff(t Traits) *Buff { return &Buff{limit: t.Limit, target: -1, traits: t} }

// Reset lays the Buff out for a frame with n linear bytes, HeadRoom behind the
// start of the buffer at base of a page. c is lent while the program runs.
// Budget: 3 ns.
func (b *Buff) Reset(page mem.Ref, base, n uint32, c *desc.CQE) {
	b.page, b.base = page, base
	b.meta, b.data, b.end = HeadRoom, HeadRoom, HeadRoom+n
	b.n, b.first, b.paged, b.nfreed = 0, 0, 0, 0
	b.cqe, b.owed = c, false
}

// Looked reports whether the program wanted bytes of a frame since it was asked
// last.
func (b *Buff) Looked() bool {
	looked := b.looked
	b.looked = false
	return looked
}

// Owe announces n bytes in fragments. They are laid out when the program asks for
// them, which most do not; a driver that wants them lays them out first.
func (b *Buff) Owe(n uint32) { b.paged, b.owed = n, true }

// Lay appends the fragments that are owed.
func (b *Buff) Lay() {
	if b.owed {
		b.paged, b.owed = 0, false
		b.traits.Lay()
	}
}

// Untouched reports whether all of the frame is still owed, and nothing has been
// put in front of it: no byte of it can have changed.
func (b *Buff) Untouched() bool { return b.owed && b.meta == b.end }

// Append adds a fragment. There are at most packet.MaxFrags, none is empty.
func (b *Buff) Append(f packet.Frag) {
	b.frags[b.n] = f
	b.n++
	b.paged += f.Len
}

// Head is where the linear part lies.
func (b *Buff) Head() packet.Frag {
	return packet.Frag{Ref: b.page, Off: b.base + b.data, Len: b.end - b.data}
}

// Start is where the linear part begins, from hard start.
func (b *Buff) Start() uint32 { return b.data }

// MetaBytes is the length of the metadata.
func (b *Buff) MetaBytes() uint32 { return b.data - b.meta }

// Frags are the fragments that are left of those laid out, lent until Reset.
func (b *Buff) Frags() []packet.Frag { return b.frags[b.first : b.first+b.n] }

// Freed are the pages of the fragments that are gone, one reference each, lent
// until Reset.
func (b *Buff) Freed() []mem.Ref { return b.freed[:b.nfreed] }

// Cut drops n bytes at the front of the fragments, which have them: the caller
// has copied them.
func (b *Buff) Cut(n uint32) {
	b.paged -= n
	for n > 0 {
		f := &b.frags[b.first]
		if f.Len > n {
			f.Off += n
			f.Len -= n
			return
		}
		n -= f.Len
		b.free(f.Ref)
		b.first++
		b.n--
	}
}

func (b *Buff) free(page mem.Ref) {
	b.freed[b.nfreed] = page
	b.nfreed++
}

// Front is the first len(p) bytes of the frame, which has them: where they lie,
// if they lie together, else copied into p.
func (b *Buff) Front(p []byte) []byte {
	first := b.Head()
	if first.Len == 0 && b.n > 0 {
		first = b.frags[b.first]
	}
	if n := uint32(len(p)); first.Len >= n {
		return first.Ref.Bytes(first.Off, n)
	}
	b.load(0, p)
	return p
}
