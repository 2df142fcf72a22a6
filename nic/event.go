package nic

// signal raises the event of the CQ if the driver has armed it and it is due
// at now (facts/mlx5e.md 2.3, 7.6, 13). It comes behind publish, once a Step;
// before is the counter of the first completion that this Step published.
func (o *completions) signal(before uint32, now int64) {
	if o.published != before {
		o.newest = now
	}
	seen, armed := o.cq.Armed()
	// The driver had not looked for all there was when it armed.
	stale := !o.watched && (before-seen)&consumerMask != 0
	o.watched = armed
	if armed && (stale || o.due((o.published-seen)&consumerMask, now)) {
		o.watched, o.fired = false, now
		o.count.events++
		o.cq.Raise()
	}
	o.urgent = false
}

// due says whether the moderation lets n completions, of which the driver does
// not know, wait no longer.
func (o *completions) due(n uint32, now int64) bool {
	if n == 0 {
		return false
	}
	m, since := o.cq.Moderation(), o.fired
	if m.FromCQE {
		since = o.newest
	}
	return o.urgent || int(n) >= m.Frames || now-since >= int64(m.Usecs)*1000
}
