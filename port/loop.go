package port

// The walk of a packet, and where each step is written:
//
//  1. A generator or a capture offers frames        ../nic/wire.go
//  2. The device hashes, writes bytes, completes    ../nic/receive.go
//  3. Completions are harvested                     ../rx/poll.go
//  4. An XDP program may drop, send or redirect     ../rx/xdp.go, ../xdp/send.go
//  5. A packet is built around or beside the bytes  ../rx/linear.go, ../rx/nonlinear.go
//  6. Neighbours of a flow are merged               ../gro/table.go
//  7. The handler gets the batch                    here
//  8. What it posts is described to the device      send.go, ../tx/post.go
//  9. The device cuts, fills in, sends, completes   ../nic/send.go
//  10. What was sent is reaped                      ../tx/reap.go
//  11. Memory goes home, the ring is refilled       ../rx/free.go, ../rx/refill.go

import (
	"context"
	"runtime"

	"github.com/millrace-net/millrace/packet"
)

// idleRounds is how often the loop looks in vain before it sleeps.
const idleRounds = 64

// Run moves packets until ctx is done: from the wire through the queues to
// handle, batch by batch. It lends each batch to handle until that returns, but
// for what handle gives to Post; what is marked with Drop is counted as dropped,
// the rest as delivered.
// Frames that the device has taken when ctx ends are still delivered. One
// goroutine drives all queues of a software NIC, so that a run can be
// repeated.
func (p *Port) Run(ctx context.Context, handle func(*packet.Batch)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.publish()
	done := ctx.Done()
	for idle := 0; ; {
		select {
		case <-done:
			p.Plug(nil)
			p.drain(handle)
			return nil
		default:
		}
		if p.Step(handle) {
			idle = 0
			continue
		}
		if idle++; idle > idleRounds {
			p.publish()
			p.wait(done)
		}
	}
}

// Step is one round: the device takes frames from its wire, each queue is
// polled until it is empty. It reports whether anything moved. It is what Run
// repeats; a test or an experiment may call it instead.
func (p *Port) Step(handle func(*packet.Batch)) bool {
	now := p.clock.start()
	moved := p.dev.Step(now) > 0
	p.clock.lap(&p.count.deviceTicks)
	p.count.polls++
	congested := false
	for i := range p.lanes {
		l := &p.lanes[i]
		p.at = i
		moved = p.reap(l, now) || moved
		// Until it runs dry: a device that is stepped in line must not gain on
		// its driver. Fillers are completions, too.
		for n := p.cfg.Budget; n == p.cfg.Budget && !l.blocked(p.cfg.Budget); {
			n = p.poll(l, handle)
			moved = moved || n > 0
		}
		congested = congested || l.blocked(p.cfg.Budget)
	}
	p.at, p.congested = 0, congested
	if p.clock.due() {
		p.publish()
	}
	return moved
}

// reap takes home what was sent, and sends what waits. It reports whether the
// transmit queue has something to do.
func (p *Port) reap(l *lane, now int64) bool {
	l.send.queue.Reap(now)
	l.push()
	p.clock.lap(&p.count.txTicks)
	return l.send.queue.InFlight() > 0
}

// poll takes at most one budget of completions along the whole walk and
// reports how many it took.
func (p *Port) poll(l *lane, handle func(*packet.Batch)) int {
	n := l.queue.Poll(l.in, p.cfg.Budget)
	p.clock.lap(&p.count.rxTicks)
	if l.in.Len() == 0 {
		return n
	}
	if l.merge != nil {
		l.merge.Receive(l.in, l.out)
		l.merge.Flush(l.out)
		p.clock.lap(&p.count.groTicks)
	}
	if l.out.Len() > 0 {
		handle(l.out)
		p.account(l.out, 0)
		p.clock.lap(&p.count.handlerTicks)
		l.queue.Free(l.out)
		p.clock.lap(&p.count.rxTicks)
		l.push()
		p.clock.lap(&p.count.txTicks)
	}
	return n
}

// drain delivers what the device has taken and holds.
func (p *Port) drain(handle func(*packet.Batch)) {
	for quiet := 0; quiet < idleRounds; quiet++ {
		if p.Step(handle) {
			quiet = 0
		}
	}
}

// account counts what the handler was given, from place first of b on.
func (p *Port) account(b *packet.Batch, first int) {
	c := &p.count
	for i := first; i < b.Len(); i++ {
		p := b.At(i)
		if p.Drop != packet.DropNone {
			c.drops[p.Drop]++
			continue
		}
		segs := uint64(1)
		if s := p.Shared(); s.GSO.Size != 0 {
			segs = uint64(s.GSO.Segs)
		}
		c.packets++
		c.segments += segs
		c.bytes += uint64(p.Len)
	}
}
