package dma

import "sync/atomic"

// Numbers of facts/mlx5e.md 8.2 (dma-iommu.c).
const (
	flushEntries = 256
	flushNs      = 10e6
)

// A flushQueue holds the addresses that one Mapper unmapped and the IOTLB may
// still know, oldest first. One entry stays unused: full and empty differ.
type flushQueue struct {
	head, tail uint32 // free-running; the entries are those between
	entries    *[flushEntries]deferred
}

// A deferred address is free once a flush that began after its unmapping is
// done: when finished has passed the count of flushes started by then.
type deferred struct {
	started  uint64
	granule  uint32
	granules uint32
}

// flushState counts flushes. A flush first adds to started, then to finished.
type flushState struct {
	started, finished atomic.Uint64

	waiting atomic.Bool  // an address was deferred since the timer last fired
	due     atomic.Int64 // when the timer fires; 0: not armed
	trimDue atomic.Int64
}

func (q *flushQueue) waiting() uint32 { return q.tail - q.head }

// defers queues an address until a flush: the next one by the timer, or one
// at once if the queue is full.
func (m *Mapper) defers(g, count uint32) {
	f := &m.d.iommu.flush
	m.mu.Lock()
	q := &m.queue
	if q.entries == nil {
		q.entries = new([flushEntries]deferred)
	}
	m.reap()
	if q.waiting() == flushEntries-1 {
		m.d.flush()
		m.reap()
	}
	q.entries[q.tail%flushEntries] = deferred{f.started.Load(), g, count}
	q.tail++
	m.mu.Unlock()
	if !f.waiting.Load() {
		f.waiting.Store(true)
	}
}

// reap frees the addresses whose flush is done. m.mu is held.
func (m *Mapper) reap() {
	q, finished := &m.queue, m.d.iommu.flush.finished.Load()
	for q.head != q.tail {
		e := &q.entries[q.head%flushEntries]
		if e.started >= finished {
			return
		}
		m.give(e.granule, e.granules)
		q.head++
	}
}

// flush makes the IOTLB forget everything.
func (d *Domain) flush() {
	f := &d.iommu.flush
	f.started.Add(1)
	d.iommu.tlb.invalidateAll()
	d.iommu.settle()
	f.finished.Add(1)
}

// tick runs the two timers. The first Tick after an address was deferred arms
// the flush: an Unmap does not know the time.
func (d *Domain) tick(now int64) {
	f := &d.iommu.flush
	if f.waiting.Load() {
		due := f.due.Load()
		if due == 0 {
			f.due.CompareAndSwap(0, now+flushNs)
		} else if now >= due && f.due.CompareAndSwap(due, 0) {
			f.waiting.Store(false) // before the flush: what comes later arms the timer again
			d.expire()
		}
	}
	if due := f.trimDue.Load(); now >= due && f.trimDue.CompareAndSwap(due, now+trimNs) {
		d.membersMu.Lock()
		keep := len(d.members)
		d.membersMu.Unlock()
		d.iommu.space.trim(keep)
	}
}

// expire flushes, and frees what waited in any queue.
func (d *Domain) expire() {
	d.flush()
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	for _, m := range d.members {
		m.mu.Lock()
		m.reap()
		m.mu.Unlock()
	}
}
