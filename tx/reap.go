package tx

// Reap takes completions: it undoes mappings, gives packets home, and wakes a
// queue that has room again; a packet that was being cut goes on first. A queue
// that the device stopped, or that it owes a completion for too long, starts
// over. now is in ns. It is called once a poll.
func (q *Queue) Reap(now int64) {
	if q.closed {
		return
	}
	good := q.ring.Poll(now, max(q.cfg.TimeoutNs, 0))
	q.reap(&q.count.done)
	if !good {
		q.restart()
	}
	if q.stopped {
		q.wake()
	}
	q.goHome()
	q.mapper.Tick(now)
	q.publish()
}

// reap gives back what the WQEs hold that the ring is done with, and counts
// their packets.
func (q *Queue) reap(packets *uint64) {
	last, any := uint32(0), false
	for slot, ok := q.ring.Next(); ok; slot, ok = q.ring.Next() {
		last, any = slot, true
	}
	if !any {
		return
	}
	end, at := &q.wqes[last], &q.tail
	q.unmap(at.maps, end.maps)
	for ; at.held != end.held; at.held++ {
		word := q.held[at.held&uint32(len(q.held)-1)]
		q.sources[word>>indexBits].send(word & (1<<indexBits - 1))
	}
	for ; at.pages != end.pages; at.pages++ {
		q.linear.give(q.linear.out[at.pages&uint32(len(q.linear.out)-1)])
	}
	*packets += uint64(end.packets - at.packets)
	at.bytes, at.packets, at.maps, at.bufs = end.bytes, end.packets, end.maps, end.bufs
	if q.InFlight() == 0 { // no WQE knows where bufs stood
		at.bufs, q.head.bufs = 0, 0
	}
}

// unmap undoes the mappings in [from, to).
func (q *Queue) unmap(from, to uint32) {
	first, n := from&uint32(len(q.maps)-1), to-from
	behind := min(n, uint32(len(q.maps))-first)
	q.mapper.UnmapAll(q.maps[first : first+behind])
	q.mapper.UnmapAll(q.maps[:n-behind])
}

// wake ends a stop.
func (q *Queue) wake() {
	if q.cutter.on {
		q.advance()
		q.Flush()
	}
	if !q.cutter.on && !q.full() {
		q.stopped = false
		q.count.wake++
	}
}

// goHome delivers the packets that are done with.
func (q *Queue) goHome() {
	for k := range q.sources {
		q.sources[k].deliver()
	}
}

// InFlight is the number of packets posted that are neither done nor lost.
func (q *Queue) InFlight() int { return int(q.count.posted - q.count.done - q.count.lost) }
