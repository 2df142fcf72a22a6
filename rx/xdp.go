package rx

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
	"github.com/millrace-net/millrace/xdp"
)

// A stage runs the XDP program on frames that are synced and not yet packets
// (docs/xdp.md). It belongs to its queue.
type stage struct {
	buff xdp.Buff    // the frame; begins a cache line
	run  xdp.Program // that of this poll
	rest place       // what of the frame is in fragments
	n    uint32      // of them on arrival, once laid; each has a slot, from rest.slot on
	give xdp.Give
	send *xdp.SendQueue
	out  *xdp.Redirector

	side   pagepool.Slot // nonlinear striding: linear parts are slices of it
	slices uint32        // that a page has; side.Given of them are taken
	fresh  [1]mem.Ref

	program atomic.Pointer[xdp.Program] // attached; any goroutine exchanges it
}

// Slices of the side page: a program's headroom, 256 bytes for what it makes
// linear, and what a SharedInfo would take (facts/mlx5e.md 3.5).
const (
	sliceLimit = xdp.HeadRoom + 256
	sliceBytes = 1024
)

// openXDP makes what a queue with a program has beside others.
func (q *Queue) openXDP() (err error) {
	c, p := &q.cfg, &q.plan
	x := &stage{slices: uint32(p.PageBytes / sliceBytes), give: q.pool.Put}
	x.side.Given = x.slices
	traits := xdp.Traits{
		Queue: c.Queue, Hash: q.hash, Timestamps: c.Offloads.Timestamps, Lay: q.lay,
	}
	switch {
	case p.Type == desc.Cyclic:
		traits.Limit = uint32(p.Frags[0].Stride - packet.SharedBytes)
		traits.FragBytes = p.PageBytes
	case p.Linear:
		traits.Limit = uint32(p.StrideBytes - packet.SharedBytes)
	default:
		traits.Limit = sliceLimit
	}
	x.buff = *xdp.NewBuff(traits)
	x.out = xdp.NewRedirector(nil, x.give)
	send := c.XDP.Send
	fill(&send.Number, c.Queue)
	x.send, err = xdp.NewSendQueue(send, q.dom)
	x.program.Store(&c.XDP.Program)
	q.xdp = x
	return err
}

// chooseXDP takes the variants that run a program.
func (q *Queue) chooseXDP() (accept func(*Queue, *desc.CQE, desc.OwnWord, *packet.Batch),
	refill func(*Queue, uint32)) {
	switch p := &q.plan; {
	case p.Type == desc.Cyclic && p.Linear:
		return acceptCyclicXDP, refillCyclic
	case p.Type == desc.Cyclic:
		return acceptCyclicFragsXDP, refillCyclic
	case p.Linear:
		return acceptLinearXDP, refillStriding
	}
	return acceptNonlinearXDP, refillStriding
}

// SetProgram puts p in the place of the program, from the next Poll on. Any
// goroutine may call it. frags is what Config.Frags says of the first one. A
// queue that was made without a program has no room for one, and one cannot be
// taken away: both need a new queue.
func (q *Queue) SetProgram(p xdp.Program, frags bool) error {
	switch {
	case q.xdp == nil:
		return errors.New("rx: the queue was made without an XDP program, its buffers have " +
			"no room for one: make it with Config.XDP")
	case p == nil:
		return errors.New("rx: an XDP program cannot be taken off a queue, only exchanged: " +
			"make the queue without Config.XDP")
	case !frags && !q.plan.Linear:
		return fmt.Errorf("rx: MTU %d is above %d, the most for an XDP program that does not "+
			"declare Frags: lower the MTU or let the program handle fragments",
			q.cfg.MTU, q.cfg.maxLinearMTU())
	}
	q.xdp.program.Store(&p)
	return nil
}

// SendQueue is where verdict Tx sends frames: lent until Close. nil without a
// program.
func (q *Queue) SendQueue() *xdp.SendQueue {
	if q.xdp == nil {
		return nil
	}
	return q.xdp.send
}

// SetTargets says where verdict Redirect sends frames, by index. Their send
// queues are driven by the goroutine of this queue. Frames that a send queue
// still has when the pool is closed are not home: close it before the queue.
func (q *Queue) SetTargets(targets []xdp.Target) error {
	if q.xdp == nil {
		return errors.New("rx: targets of Redirect, but the queue has no XDP program")
	}
	q.xdp.out = xdp.NewRedirector(targets, q.xdp.give)
	return nil
}

// begin takes the program of this poll, and what was sent comes home.
func (x *stage) begin() {
	x.run = *x.program.Load()
	x.send.Reap()
	x.out.Reap()
}

// end rings the doorbells and hands over what was redirected.
func (x *stage) end() {
	x.send.Flush()
	x.out.Flush()
}

// owe notes where the rest of the frame lies, until somebody asks for it in
// fragments.
func (x *stage) owe(rest place) {
	x.rest = rest
	x.buff.Owe(rest.n)
}

// lay adds the rest of the frame in fragments, which go on at the start of the
// pages behind the first. In a cyclic queue with a program every segment is a
// page, so that this holds there, too.
func (q *Queue) lay() {
	x := q.xdp
	slot, off, left := x.rest.slot, x.rest.off, x.rest.n
	for ; left > 0; slot, off = slot+1, 0 {
		pg, n := &q.pages[slot], min(q.pageBytes-off, left)
		q.dom.SyncForCPU(pg.IOVA+uint64(off), n)
		x.buff.Append(packet.Frag{Ref: pg.Page, Off: off, Len: n})
		left -= n
	}
	x.n = slot - x.rest.slot
}

// consume does what a verdict other than Pass says. head is the page of the
// linear part.
func (q *Queue) consume(v xdp.Verdict, head *pagepool.Slot) {
	x := q.xdp
	switch v {
	case xdp.Drop:
		q.count.xdpDrop++
		q.blind = !x.buff.Looked()
		return
	case xdp.Tx:
		x.buff.Lay()
		if x.send.Send(&x.buff, x.give) {
			q.count.xdpTx++
			q.left(head)
			return
		}
	case xdp.Redirect:
		x.buff.Lay()
		if x.out.Take(&x.buff) {
			q.count.xdpRedirect++
			q.left(head)
			return
		}
	}
	q.count.xdpAborted++
	q.count.xdpDrop++
}

// left settles a frame that leaves. The page of the linear part counts if a
// byte of the frame is in it.
func (q *Queue) left(head *pagepool.Slot) {
	if q.xdp.buff.Head().Len > 0 {
		head.Given++
	}
	q.settle()
}

// settle counts a reference on each page that had a fragment of the frame on
// arrival, whatever the program did since, and gives back those that it let go
// of (facts/mlx5e.md 12, bugs 5, 6 and 30). A frame that is dropped counts
// none and gives none back.
func (q *Queue) settle() {
	x := q.xdp
	pages := q.pages[x.rest.slot:][:x.n]
	for i := range pages {
		pages[i].Given++
	}
	for _, page := range x.buff.Freed() {
		q.pool.Put(page, 1)
	}
	if check.On {
		check.That(len(x.buff.Freed())+x.buff.NumFrags() == int(x.n),
			"rx: a frame came with %d fragments, has %d and freed %d",
			x.n, x.buff.NumFrags(), len(x.buff.Freed()))
	}
}
