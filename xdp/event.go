package xdp

// Arm asks the device for an event once there is something to Reap.
func (q *SendQueue) Arm() { q.ring.Arm() }

// Fired says that an event that was asked for has come.
func (q *SendQueue) Fired() bool { return q.ring.Fired() }
