package tx

import "github.com/millrace-net/millrace/desc"

// Arm asks the device for an event once there is something to Reap. The owner
// calls it behind a Reap that found nothing.
func (q *Queue) Arm() { q.ring.Arm() }

// Fired says that an event that was asked for has come.
func (q *Queue) Fired() bool { return q.ring.Fired() }

// Moderate sets how long the device gathers completions before an event (tx-usecs,
// tx-frames). Any goroutine may call it.
func (q *Queue) Moderate(m desc.Moderation) error { return q.ring.SQ.CQ.Moderate(m) }
