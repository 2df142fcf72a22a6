package xdp

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A Buff is a received frame in the driver's memory: a linear part in one
// buffer, which may be empty, and fragments behind it. It belongs to the queue,
// which uses it again for the next frame.
type Buff struct {
	// One cache line, written for every frame.
	page            mem.Ref // holds the linear part
	base            uint32  // hard start: where its buffer begins in the page
	meta, data, end uint32  // from hard start
	n               uint32  // frags[first:first+n] are the frame's
	first           uint32
	paged           uint32 // bytes in them
	nfreed          uint32
	cqe             *desc.CQE
	target          int    // of Redirect; -1: none chosen
	limit           uint32 // end of the tailroom, from hard start
	looked          bool   // the program wanted bytes of the frame
	owed            bool   // Traits.Lay has yet to append the fragments

	frags  [packet.MaxFrags]packet.Frag
	freed  [packet.MaxFrags]mem.Ref // pages of fragments that are gone
	traits Traits
}

// Traits are what all frames of a queue have in common.
type Traits struct {
	Queue      int    // number of the receive queue
	Limit      uint32 // bytes of a linear buffer in front of its SharedInfo
	FragBytes  int    // buffer of a fragment, aligned in its page; 0: fragments cannot grow
	Lay        func() // appends the fragments that Owe announced
	Hash       bool   // completions carry a hash
	Timestamps bool   // completions carry a time
}

// recordBytes of the buffer stay free in front. The kernel puts its record of a
// sent frame there (struct xdp_frame): a program meets the same limits here.
const recordBytes = 40

// MinFrame is what AdjustHead and AdjustTail leave of a frame, and the shortest
// that is sent: an Ethernet header.
const MinFrame = 14

// Data is the linear part, lent until the buffer is adjusted. In a striding
// queue that cuts frames into fragments it is empty.
func (b *Buff) Data() []byte {
	b.looked = true
	return b.page.Bytes(b.base+b.data, b.end-b.data)
}

// Meta is the metadata in front of the frame, lent until the buffer is
// adjusted. AdjustMeta makes it.
func (b *Buff) Meta() []byte { return b.page.Bytes(b.base+b.meta, b.data-b.meta) }

// Len is the length of the whole frame in bytes.
func (b *Buff) Len() int { return int(b.end - b.data + b.paged) }

// NumFrags is the number of fragments.
func (b *Buff) NumFrags() int {
	b.Lay()
	return int(b.n)
}

// Frag is fragment i, lent until the buffer is adjusted.
func (b *Buff) Frag(i int) []byte {
	b.Lay()
	return b.Frags()[i].Bytes()
}

// Queue is the number of the receive queue.
func (b *Buff) Queue() int { return b.traits.Queue }

// Redirect chooses target i of the queue. A program returns what it returns.
func (b *Buff) Redirect(i int) Verdict {
	b.target = i
	return Redirect
}
