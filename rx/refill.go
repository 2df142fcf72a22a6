package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/pagepool"
)

// refillStriding posts WQEs on fresh pages once Plan.Bulk of them are missing
// (facts/mlx5e.md 3.9). The pages of an index are released when it is filled
// again, so that they pass through the pool's cache. If pages run out, those
// of all other free WQEs are released too, and it is tried once more.
func refillStriding(q *Queue) {
	missing := len(q.consumed) - 1 - int(q.posted)
	if missing < q.plan.Bulk {
		return
	}
	before := q.counter
	for range missing {
		q.release(uint32(q.head))
		if q.take(1) == 0 {
			q.reclaimStriding()
			if q.take(1) == 0 {
				break
			}
		}
		q.install(uint32(q.head), q.scratch[:q.groupPages])
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

// refillCyclic posts WQEs a unit at a time, and only whole groups: a page must
// not be replaced while an older WQE of its group is still out (facts/mlx5e.md
// 3.2). What a unit got before pages ran out is posted.
func refillCyclic(q *Queue) {
	missing := q.plan.WQEs - int(q.posted)
	if missing < q.plan.Bulk {
		return
	}
	before := q.counter
	groups := missing >> q.groupShift
	for groups > 0 {
		n := min(groups, q.plan.Unit>>q.groupShift)
		q.releaseGroups(n)
		got := q.take(n)
		if got == 0 {
			q.releaseGroups(groups)
			got = q.take(n)
		}
		for i := range got {
			q.postGroup(q.scratch[i*int(q.groupPages):][:q.groupPages])
		}
		if groups -= n; got < n {
			break
		}
	}
	if q.counter != before {
		q.rq.Producer.Ring(q.counter & 0xffff)
	}
}

// group is the i-th group from the next WQE to be posted on.
func (q *Queue) group(i int) uint32 {
	return ((q.counter + uint32(i)<<q.groupShift) & q.wqeMask) >> q.groupShift
}

func (q *Queue) releaseGroups(n int) {
	for i := range n {
		q.release(q.group(i))
	}
}

// postGroup gives the next group its pages and writes its segments.
func (q *Queue) postGroup(refs []mem.Ref) {
	group := q.group(0)
	q.install(group, refs)
	for range q.plan.Group {
		wqe := q.counter & q.wqeMask
		segments := q.rq.Segments[int(wqe)*q.rq.SegsPerWQE:]
		for k := range q.plan.NumFrags {
			pg, off := q.segment(wqe, k)
			if k == 0 {
				off += q.headroom
			}
			segments[k].Set(uint32(q.plan.Frags[k].Bytes), memoryKey, pg.iova+uint64(off))
		}
		q.counter++
		q.posted++
	}
}

// memoryKey names the queue's domain in the segments of a cyclic queue.
const memoryKey = 0x200

// take allocates the pages of n groups into scratch and reports how many
// groups have all of theirs. The pages of an incomplete one go back.
func (q *Queue) take(n int) int {
	want := n * int(q.groupPages)
	got := q.pool.Alloc(q.scratch[:want])
	if got == want {
		return n
	}
	q.count.buffAllocErr++
	n = got / int(q.groupPages)
	for _, ref := range q.scratch[n*int(q.groupPages) : got] {
		q.pool.Put(ref, pagepool.Bias)
	}
	return n
}

// install puts fresh pages into the slots of a group, which are empty. The
// translation of a WQE has more entries than it has pages.
func (q *Queue) install(group uint32, refs []mem.Ref) {
	slots := q.pages[group*q.groupPages:][:len(refs)]
	var mtt []uint64 // of the group; none in a cyclic queue
	if q.rq.Type == desc.Striding {
		mtt = q.rq.MTT[group*q.mttsPerWQE:][:len(refs)]
	}
	for k, ref := range refs {
		iova := ref.Meta().IOVA
		slots[k] = page{ref: ref, iova: iova}
		if k < len(mtt) {
			mtt[k] = iova | desc.MTTRead | desc.MTTWrite
		}
	}
}

// release gives the ring's references on the pages of a group back to the
// pool, less those that packets hold. A slot that is empty, because a refill
// failed, has nothing to give.
func (q *Queue) release(group uint32) {
	slots := q.pages[group*q.groupPages:][:q.groupPages]
	for k := range slots {
		if pg := &slots[k]; pg.ref != mem.None {
			q.pool.Put(pg.ref, pagepool.Bias-int32(pg.refs))
			*pg = page{}
		}
	}
}
