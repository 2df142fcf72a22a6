package tx

// Mapped is the number of ranges that the queue has mapped: its own buffers,
// and what the device is reading. The owner calls it.
func (q *Queue) Mapped() int { return len(q.bufs.pages) + int(q.head.maps-q.tail.maps) }
