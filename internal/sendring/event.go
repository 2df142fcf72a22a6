package sendring

// Arm asks the device for an event once there are completions to Poll.
func (r *Ring) Arm() { r.SQ.CQ.Arm(r.seen) }

// Fired says that an event that was asked for has come.
func (r *Ring) Fired() bool { return r.SQ.CQ.Fired() }
