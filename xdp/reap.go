package xdp

// Reap takes completions and gives the pages of what was sent back. A queue
// that the device stopped starts over: what it had not sent is lost, and its
// pages come home.
func (q *SendQueue) Reap() {
	good := q.ring.Poll(0, 0)
	q.count.Done += q.home()
	if !good {
		q.stop()
		q.ring.Start()
	}
}

// home gives back the pages of what the ring is done with, and counts the
// frames.
func (q *SendQueue) home() (frames uint64) {
	for slot, ok := q.ring.Next(); ok; slot, ok = q.ring.Next() {
		s := &q.sent[slot]
		for range s.pages {
			s.give(q.pages[q.pageTail&uint32(len(q.pages)-1)], 1)
			q.pageTail++
		}
		*s = sent{}
		frames++
	}
	return frames
}

// stop takes the ring from the device and the pages home.
func (q *SendQueue) stop() {
	q.ring.Stop()
	q.count.Lost += q.home()
}

// Close takes the ring from the device. What it had not sent is lost; all pages
// go home. Closing twice changes nothing.
func (q *SendQueue) Close() {
	q.Reap()
	q.stop()
}

// Stats are the counts. The owner calls it.
func (q *SendQueue) Stats() SendStats {
	s, r := q.count, q.ring.Stats()
	s.Nops, s.CQEs, s.Error, s.Recover = r.Nops, r.CQEs, r.CQEErr, r.Recover
	return s
}

// InFlight is the number of references on pages that the queue holds.
func (q *SendQueue) InFlight() int { return int(q.pageHead - q.pageTail) }
