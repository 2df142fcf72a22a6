package xdp

import (
	"iter"

	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A Target is where Redirect sends frames: one of the two.
type Target struct {
	// Send is a send queue that the goroutine of the receive queue drives.
	Send *SendQueue
	// Handle is lent the frames of a poll, up to 16 at a time, until it returns.
	// What it keeps it copies.
	Handle func([]Frame)
}

// A Frame is a redirected frame: the pieces of memory that hold its bytes. It
// owns one reference on the page of each.
type Frame struct {
	pieces [1 + packet.MaxFrags]packet.Frag
	n      int
	Len    int // bytes in all pieces
	Queue  int // number of the receive queue
}

// Pieces are the frame's bytes in order, lent with the frame. The first holds
// the headers as far as the device wrote them together.
func (f *Frame) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, p := range f.pieces[:f.n] {
			if !yield(p.Bytes()) {
				return
			}
		}
	}
}

// take makes f the frame in b.
func (f *Frame) take(b *Buff) {
	f.n, f.Len, f.Queue = 0, b.Len(), b.traits.Queue
	if b.end > b.data {
		f.pieces[0] = b.Head()
		f.n = 1
	}
	f.n += copy(f.pieces[f.n:], b.Frags())
}

// bulk is how many frames a target's handler is lent at a time
// (DEV_MAP_BULK_SIZE).
const bulk = 16

// A Redirector collects the redirected frames of one receive queue.
type Redirector struct {
	targets []Target
	waiting [][]Frame // for each target's Handle
	give    Give
}

// A Give takes n references on a page back. It is the Put of the pool that
// the page came from.
type Give func(page mem.Ref, n int32)

// NewRedirector makes the redirector of a queue whose pages go back by give.
func NewRedirector(targets []Target, give Give) *Redirector {
	r := &Redirector{targets: targets, give: give, waiting: make([][]Frame, len(targets))}
	for i, t := range targets {
		if t.Handle != nil {
			r.waiting[i] = make([]Frame, 0, bulk)
		}
	}
	return r
}

// Take takes the frame in b, with one reference on each page, for the target
// that the program chose. It reports false, and takes nothing, when there is
// no such target or its queue does not take the frame.
func (r *Redirector) Take(b *Buff) bool {
	i := b.target
	b.target = -1
	if i < 0 || i >= len(r.targets) {
		return false
	}
	t := &r.targets[i]
	if t.Handle == nil {
		return t.Send != nil && t.Send.Send(b, r.give)
	}
	list := r.waiting[i]
	if len(list) == bulk {
		r.hand(i)
		list = r.waiting[i]
	}
	list = list[:len(list)+1]
	list[len(list)-1].take(b)
	r.waiting[i] = list
	return true
}

// Flush ends a poll: send queues ring their doorbell, handlers get what waits.
func (r *Redirector) Flush() {
	for i := range r.targets {
		switch t := &r.targets[i]; {
		case t.Handle != nil:
			r.hand(i)
		case t.Send != nil:
			t.Send.Flush()
		}
	}
}

// Reap takes completions of the targets' send queues.
func (r *Redirector) Reap() {
	for i := range r.targets {
		if q := r.targets[i].Send; q != nil {
			q.Reap()
		}
	}
}

// hand lends what waits for a handler and gives the pages back.
func (r *Redirector) hand(i int) {
	list := r.waiting[i]
	if len(list) == 0 {
		return
	}
	r.targets[i].Handle(list)
	for k := range list {
		for _, p := range list[k].pieces[:list[k].n] {
			r.give(p.Ref, 1)
		}
	}
	r.waiting[i] = list[:0]
}
