package port

import (
	"slices"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/tx"
)

// counters are what the loop counts.
type counters struct {
	packets, segments, bytes                     uint64
	deviceTicks, rxTicks, groTicks, handlerTicks uint64
	txTicks                                      uint64
	events, polls, arms                          uint64
	drops                                        [packet.NumDrops]uint64
}

// Stats are the counts of a port since it was opened.
type Stats struct {
	Packets  uint64                  // delivered: the handler kept them; a merged one is one
	Segments uint64                  // frames in them
	Bytes    uint64                  // from the L2 header on, merged headers once
	Drops    [packet.NumDrops]uint64 // by the handler
	Stages   Stages
	Events   uint64 // that ended a sleep of Run (ch_events)
	Polls    uint64 // rounds of the loop (ch_poll)
	Arms     uint64 // times Run asked for events, to sleep (ch_arm)
	Device   nic.Stats
	Queues   []QueueStats
}

// Stages are the ns spent in each stage.
type Stages struct{ Device, RX, GRO, Handler, TX int64 }

// QueueStats are the counts of one queue.
type QueueStats struct {
	RX    rx.Stats
	GRO   gro.Stats
	TX    tx.Stats
	Sends tx.Effective // how TX sends
	Books rx.Books
}

// Stats are the counts of at most 10 ms ago; behind Run the last ones. Any
// goroutine may call it.
func (p *Port) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.public
	s.Queues = slices.Clone(s.Queues)
	return s
}

// publish makes the counts visible to Stats.
func (p *Port) publish() {
	c := &p.count
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.public
	s.Packets, s.Segments, s.Bytes, s.Drops = c.packets, c.segments, c.bytes, c.drops
	s.Events, s.Polls, s.Arms = c.events, c.polls, c.arms
	s.Stages = Stages{
		Device: p.clock.ns(c.deviceTicks), RX: p.clock.ns(c.rxTicks),
		GRO: p.clock.ns(c.groTicks), Handler: p.clock.ns(c.handlerTicks),
		TX: p.clock.ns(c.txTicks),
	}
	s.Device = p.dev.Stats()
	s.Queues = s.Queues[:0]
	for i := range p.lanes {
		l := &p.lanes[i]
		q := QueueStats{RX: l.queue.Stats(), TX: l.send.queue.Stats(),
			Sends: l.send.queue.Effective(), Books: l.queue.Books()}
		if l.merge != nil {
			q.GRO = l.merge.Stats()
		}
		s.Queues = append(s.Queues, q)
	}
}
