package port

import (
	"fmt"
	"time"

	"github.com/millrace-net/millrace/desc"
)

const (
	napNs = 50_000
	// The longest sleep without a look at the queues: an event may get lost, and
	// a queue that found no memory has to try again (facts/mlx5e.md 12, bug 62).
	watchNs = 100_000_000
)

// wait sleeps until the device has an event, as a poll that found nothing ends in
// Linux: it asks for one, and from then on only the device works. Moderation
// decides how much gathers meanwhile.
func (p *Port) wait(done <-chan struct{}) {
	for i := range p.lanes {
		p.lanes[i].queue.Arm()
		p.lanes[i].send.queue.Arm()
	}
	p.count.arms++
	for end := p.clock.start() + watchNs; ; {
		select {
		case <-done:
			return
		default:
		}
		time.Sleep(napNs)
		now := p.clock.start()
		p.dev.Step(now)
		p.clock.lap(&p.count.deviceTicks)
		if p.fired() {
			p.count.events++
			return
		}
		if now > end {
			return
		}
	}
}

func (p *Port) fired() bool {
	for i := range p.lanes {
		if p.lanes[i].queue.Fired() || p.lanes[i].send.queue.Fired() {
			return true
		}
	}
	return false
}

// A Coalesce is how long the device gathers completions while the port sleeps
// (ethtool -C). A Moderation that is zero means desc.DefaultModeration; one
// Frame raises the event at once.
type Coalesce struct{ RX, TX desc.Moderation }

// moderate carries it out for a lane.
func (c Coalesce) moderate(l *lane) error {
	for _, m := range []*desc.Moderation{&c.RX, &c.TX} {
		if *m == (desc.Moderation{}) {
			*m = desc.DefaultModeration
		}
	}
	if err := l.queue.Moderate(c.RX); err != nil {
		return fmt.Errorf("port: receive: %w", err)
	}
	if err := l.send.queue.Moderate(c.TX); err != nil {
		return fmt.Errorf("port: transmit: %w", err)
	}
	return nil
}
