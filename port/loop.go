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
//  8. Memory goes home, the ring is refilled        ../rx/free.go, ../rx/refill.go

import (
	"context"
	"runtime"
	"time"

	"github.com/millrace-net/millrace/packet"
)

// idleRounds is how often the loop looks in vain before it sleeps.
const idleRounds = 64

// Run moves packets until ctx is done: from the wire through the queues to
// handle, batch by batch. It lends each batch to handle until that returns;
// what is marked with Drop is counted as dropped, the rest as delivered.
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
			time.Sleep(50 * time.Microsecond)
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
	for i := range p.lanes {
		// Until it runs dry: a device that is stepped in line must not gain on
		// its driver. Fillers are completions, too.
		for n := p.cfg.Budget; n == p.cfg.Budget; {
			n = p.poll(&p.lanes[i], handle)
			moved = moved || n > 0
		}
	}
	if p.clock.due() {
		p.publish()
	}
	return moved
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
		p.account(l.out)
		p.clock.lap(&p.count.handlerTicks)
		l.queue.Free(l.out)
		p.clock.lap(&p.count.rxTicks)
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

// account counts what the handler was given.
func (p *Port) account(b *packet.Batch) {
	c := &p.count
	for i := range b.Len() {
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
