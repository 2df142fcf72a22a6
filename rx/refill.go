package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/pagepool"
)

// missing is how many WQEs of most a refill posts: none before Plan.Bulk are missing.
// While half of the ring is posted it leaves out those used up in this poll.
// The packets of this poll are on the pages of those; by the next one most are
// home, and stay in their slots (Pool.Renew).
func (q *Queue) missing(most, used uint32) uint32 {
	n := most - q.posted
	switch {
	case n < uint32(q.plan.Bulk):
		return 0
	case q.posted > q.wqeMask/2:
		return n - used
	}
	return n
}

// refillStriding posts WQEs on fresh pages once Plan.Bulk of them are missing
// (facts/mlx5e.md 3.9). Pages are given back when their index is filled again.
// If they run out, those of all other free WQEs are released too, and
// it is tried once more.
func refillStriding(q *Queue, used uint32) {
	missing := q.missing(q.wqeMask, used)
	before := q.counter
	for range missing {
		if q.renew(uint32(q.head), 1) == 0 {
			q.reclaimStriding()
			if q.renew(uint32(q.head), 1) == 0 {
				break
			}
		}
		q.push()
	}
	if q.counter != before {
		q.rq.Producer.Ring(q.counter & 0xffff)
	}
}

// reclaimStriding releases the pages of every free WQE, the one that always
// stays free included.
func (q *Queue) reclaimStriding() {
	for ix := q.head; ; ix = q.rq.List[ix].Next() {
		q.release(uint32(ix))
		if ix == q.tail {
			return
		}
	}
}

// refillCyclic posts WQEs, and only whole groups: a page must not be replaced
// while an older WQE of its group is still out (facts/mlx5e.md 3.2).
func refillCyclic(q *Queue, used uint32) {
	missing := q.missing(q.wqeMask+1, used)
	before := q.counter
	for groups := missing >> q.groupShift; groups > 0; {
		n := min(groups, q.wqeMask>>q.groupShift+1-q.group(0), uint32(q.plan.Unit>>q.groupShift))
		got := q.renew(q.group(0), n)
		if got == 0 {
			for i := range groups {
				q.release(q.group(int(i)))
			}
			if got = q.renew(q.group(0), n); got == 0 {
				break
			}
		}
		q.counter += got << q.groupShift
		q.posted += got << q.groupShift
		groups -= got
	}
	if q.counter != before {
		q.rq.Producer.Ring(q.counter & 0xffff)
	}
}

// group is the i-th group from the next WQE to be posted on.
func (q *Queue) group(i int) uint32 {
	return ((q.counter + uint32(i)<<q.groupShift) & q.wqeMask) >> q.groupShift
}

// point writes the segments of some groups. It is done when they get fresh
// pages: those of a group that keeps its own are what they were.
func (q *Queue) point(group, n uint32) {
	for wqe := group << q.groupShift; wqe < (group+n)<<q.groupShift; wqe++ {
		segments := q.rq.Segments[int(wqe)*q.rq.SegsPerWQE:]
		for k := range q.plan.NumFrags {
			pg, off := q.segment(wqe, k)
			if k == 0 {
				off += q.headroom
			}
			segments[k].Set(uint32(q.plan.Frags[k].Bytes), desc.MemoryKey, pg.IOVA+uint64(off))
		}
	}
}

// renew puts a page with all its references into every slot of n groups and
// reports how many, the first ones, have all of theirs. A page that no packet
// holds any more stays where it is, as if it had gone through the pool's cache,
// which gives the last one first; for others the pool gives fresh ones. If it has
// too few, slots stay empty.
func (q *Queue) renew(group, n uint32) uint32 {
	slots := q.pages[group*q.groupPages:][:n*q.groupPages]
	if empty := q.pool.Renew(slots); empty > 0 {
		return q.install(group, slots, empty)
	}
	return n
}

// install puts fresh pages into the empty slots of some groups, tells the device
// where they are, and reports how many groups, the first ones, are complete. The
// translation of a WQE has more entries than it has pages.
func (q *Queue) install(group uint32, slots []pagepool.Slot, empty int) (complete uint32) {
	refs := q.scratch[:q.pool.Alloc(q.scratch[:empty])]
	var mtt []uint64 // of the group; none in a cyclic queue
	if q.rq.Type == desc.Striding {
		mtt = q.rq.MTT[group*q.mttsPerWQE:][:len(slots)]
	}
	k := 0
	for ; k < len(slots); k++ {
		if slots[k].Page != mem.None {
			continue
		}
		if len(refs) == 0 {
			q.count.buffAllocErr++
			break
		}
		iova := refs[0].Meta().IOVA
		slots[k] = pagepool.Slot{Page: refs[0], IOVA: iova}
		if k < len(mtt) {
			mtt[k] = iova | desc.MTTRead | desc.MTTWrite
		}
		refs = refs[1:]
	}
	complete = uint32(k) / q.groupPages
	if mtt == nil {
		q.point(group, complete)
	}
	return complete
}

// release gives the ring's references on the pages of a group back to the
// pool, less those that packets hold. A slot that is empty, because a refill
// failed, has nothing to give.
func (q *Queue) release(group uint32) {
	q.pool.PutSlots(q.pages[group*q.groupPages:][:q.groupPages])
}
