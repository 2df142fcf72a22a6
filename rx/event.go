package rx

import "github.com/millrace-net/millrace/desc"

// Arm asks the device for an event once there is something to poll, also what a
// program sent. The owner calls it behind a Poll that found nothing.
func (q *Queue) Arm() {
	q.cq.Arm(q.cc)
	if q.xdp != nil {
		q.xdp.send.Arm()
	}
}

// Fired says that an event that was asked for has come.
func (q *Queue) Fired() bool {
	return q.cq.Fired() || q.xdp != nil && q.xdp.send.Fired()
}

// Moderate sets how long the device gathers completions before an event (rx-usecs,
// rx-frames). Any goroutine may call it.
func (q *Queue) Moderate(m desc.Moderation) error { return q.cq.Moderate(m) }
