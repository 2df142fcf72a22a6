package port

import (
	"fmt"

	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/tx"
)

// A sender is the transmit side of a lane, and what waits for it.
type sender struct {
	queue   *tx.Queue
	waiting []waiting // of a slab each; the first is that of the lane
}

// waiting are packets that were posted and are not in the queue.
type waiting struct {
	batch *packet.Batch
	free  func(*packet.Batch)
}

// newSender opens the transmit queue of a lane. Packets of the lane's own slab
// go back to its receive queue when they are sent.
func (p *Port) newSender(l *lane, i int) (err error) {
	cfg := p.cfg.TX
	cfg.Number = i
	if l.send.queue, err = tx.New(cfg, p.dom); err != nil {
		return err
	}
	if err = l.serve(l.queue.Slab(), l.queue.Free); err != nil {
		return err
	}
	_, err = p.dev.AddSQ(l.send.queue.SQ())
	return err
}

// Serve lets packets of a slab of the caller's be posted, beside those that the
// port received. free takes them when they are sent, in batches, on the
// goroutine of Run. The slab is lent until Close.
func (p *Port) Serve(s *packet.Slab, free func(*packet.Batch)) error {
	for i := range p.lanes {
		if err := p.lanes[i].serve(s, free); err != nil {
			return fmt.Errorf("port: queue %d: %w", i, err)
		}
	}
	return nil
}

func (l *lane) serve(s *packet.Slab, free func(*packet.Batch)) error {
	if err := l.send.queue.Serve(s, free); err != nil {
		return err
	}
	l.send.waiting = append(l.send.waiting, waiting{packet.NewBatch(s, s.Cap()), free})
	return nil
}

// Post takes the packets of b that are not marked with Drop, and sends them: by
// the transmit queue beside the receive queue whose handler is running, else by
// the first. b keeps the others. What finds no room waits, and its receive
// queue is not polled until it has gone: packets are lost in the device, for
// lack of buffers, or not at all. It fails, and takes nothing, when b is of a
// slab that Serve was not told of. It belongs to the goroutine of Run.
func (p *Port) Post(b *packet.Batch) error {
	l := &p.lanes[p.at]
	for k := range l.send.waiting {
		w := l.send.waiting[k].batch
		if w.Slab() != b.Slab() {
			continue
		}
		first := w.Len()
		b.Give(w)
		if k == 0 {
			p.account(w, first)
		}
		return nil
	}
	return fmt.Errorf("port: the packets are of a slab that queue %d does not serve; "+
		"see Port.Serve", p.at)
}

// push gives what waits to the queue, and rings the doorbell once for it.
func (l *lane) push() {
	s := &l.send
	for k := range s.waiting {
		if w := s.waiting[k].batch; w.Len() > 0 {
			s.queue.Post(w)
		}
	}
	s.queue.Flush()
}

// blocked says that the lane has to get rid of packets before it takes more:
// some wait for the transmit queue, or those that are being sent have used the
// records up.
func (l *lane) blocked(budget int) bool {
	for k := range l.send.waiting {
		if l.send.waiting[k].batch.Len() > 0 {
			return true
		}
	}
	slab := l.queue.Slab()
	return slab.Cap()-slab.InUse() < budget && l.send.queue.InFlight() > 0
}

// Congested says that a receive queue is not polled because packets wait for its
// transmit queue. The device goes on taking frames from its wire, and drops
// those that find no buffer; a wire that can wait had better. It belongs to the
// goroutine of Run, and is true to the last Step.
func (p *Port) Congested() bool { return p.congested }

// close lets go of what waits and of what is being sent. It can be called
// before everything is open, and twice.
func (s *sender) close() error {
	if s.queue == nil {
		return nil
	}
	err := s.queue.Close()
	for _, w := range s.waiting {
		w.free(w.batch)
	}
	return err
}
