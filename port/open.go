package port

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/xdp"
)

// A Port is an interface with its queues. The goroutine that calls Run owns
// it; other goroutines may only call Stats.
type Port struct {
	cfg   Config
	dev   *nic.Device
	dom   *dma.Domain
	lanes []lane
	at    int // the lane whose handler is running

	congested bool
	clock     clock
	count     counters
	mu        sync.Mutex // of published
	public    Stats
}

// A lane is what one queue passes its packets along.
type lane struct {
	queue *rx.Queue
	merge *gro.Table    // nil without GRO
	in    *packet.Batch // from the queue
	out   *packet.Batch // to the handler; in itself without GRO
	send  sender
}

// Open opens the interface that spec names. "nic:" is the software NIC; its
// frames come from the Wire that is plugged in. The caller closes the port.
func Open(spec string, cfg Config) (*Port, error) {
	if spec != "nic:" {
		kind, _, _ := strings.Cut(spec, ":")
		return nil, fmt.Errorf("port: open %q: no interface of kind %q; there is \"nic:\"",
			spec, kind)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Port{cfg: cfg, dom: dma.New(cfg.DMA), clock: newClock()}
	if p.dev, err = nic.New(cfg.NIC, p.dom); err != nil {
		return nil, err
	}
	for i := range cfg.Queues {
		if err := p.addLane(i); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	if err := p.openSend(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.publish()
	return p, nil
}

// openSend gives the device what an XDP program sends by.
func (p *Port) openSend() error {
	if p.cfg.RX.XDP.Program == nil {
		return nil
	}
	targets, own := p.cfg.Redirect, make([]xdp.Target, len(p.lanes))
	for i := range p.lanes {
		own[i].Send = p.lanes[i].queue.SendQueue()
		if _, err := p.dev.AddSQ(own[i].Send.SQ()); err != nil {
			return err
		}
	}
	if targets == nil {
		targets = own
	}
	for i := range p.lanes {
		if err := p.lanes[i].queue.SetTargets(targets); err != nil {
			return err
		}
	}
	return nil
}

func (p *Port) addLane(i int) (err error) {
	cfg := p.cfg.RX
	cfg.Queue = i
	q, err := rx.New(cfg, p.dom)
	if err != nil {
		return err
	}
	p.lanes = append(p.lanes, lane{queue: q})
	l := &p.lanes[i]
	l.in = packet.NewBatch(q.Slab(), p.cfg.Budget)
	l.out = l.in
	if !p.cfg.NoGRO {
		if l.merge, err = gro.New(p.cfg.GRO, q.Slab()); err != nil {
			return err
		}
		l.out = packet.NewBatch(q.Slab(), p.cfg.Budget)
	}
	if _, err = p.dev.AddRQ(q.RQ()); err != nil {
		return err
	}
	if err = p.newSender(l, i); err != nil {
		return err
	}
	return p.cfg.Wait.moderate(l)
}

// Plug makes w the wire that frames come from; nil unplugs it.
func (p *Port) Plug(w nic.Wire) { p.dev.Plug(w) }

// PlugOut makes e the end of a cable that sent frames leave by. While the cable
// is full they wait. With nil, which is the default, nobody listens.
func (p *Port) PlugOut(e *nic.End) { p.dev.PlugOut(e) }

// SetProgram puts an XDP program in the place of the one that all queues run,
// from their next polls on; see rx.Queue.SetProgram. Any goroutine may call it.
func (p *Port) SetProgram(program xdp.Program, frags bool) error {
	for i := range p.lanes {
		if err := p.lanes[i].queue.SetProgram(program, frags); err != nil {
			return err
		}
	}
	return nil
}

// Device is the device behind the port, to set features and read its counters.
// It belongs to the goroutine of Run.
func (p *Port) Device() *nic.Device { return p.dev }

// Close gives all memory back. It reports what did not come home. What was to
// be sent and is not is lost: a queue may have sent frames of another, so all
// send queues are closed first.
func (p *Port) Close() error {
	var errs []error
	for i := range p.lanes {
		if q := p.lanes[i].queue.SendQueue(); q != nil {
			q.Close()
		}
		errs = append(errs, p.lanes[i].send.close())
	}
	for i := range p.lanes {
		errs = append(errs, p.lanes[i].queue.Close())
	}
	p.lanes = nil
	return errors.Join(errs...)
}
