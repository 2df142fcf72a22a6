package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// A place is where a completion says that its frame lies.
type place struct {
	slot  uint32 // of the first page, in Queue.pages
	off   uint32 // of the first stride, in that page
	n     uint32 // bytes of the frame
	index uint32 // of the first stride, in the WQE
}

// locate accounts for the strides of a completion (facts/mlx5e.md 3.3, steps 1
// to 5 and 7) and reports where its frame lies; false when it brings none.
// The pages of a WQE that is used up stay until its index is filled again, so
// the frame is still there.
func (q *Queue) locate(c *desc.CQE, w desc.OwnWord) (at place, ok bool) {
	ix, bc, index := uint32(c.WQEID()), c.ByteCount(), uint32(w.WQECounter())
	n := uint32(bc.Bytes())
	// A frame in the next stride, as all are in a linear queue, proves itself in few
	// instructions. That of another length than 1 to shortMax is looked at below.
	if int(ix) >= len(q.consumed) || q.consumed[ix] != index || index >= q.strides ||
		bc != desc.PackByteCount(1, uint16(n)) || n-1 >= q.shortMax ||
		w.Opcode() != desc.OpRespSend {
		return q.locateAny(c, w)
	}
	q.use(ix, index+1)
	return q.placeAt(ix, index, n), true
}

// placeAt is the place of a frame of n bytes from a stride of WQE ix on.
func (q *Queue) placeAt(ix, index, n uint32) (at place) {
	off := index << (q.strideShift & 31)
	return place{
		slot: ix*q.groupPages + off>>(q.pageShift&31), off: off & (q.pageBytes - 1),
		n: n, index: index,
	}
}

// locateAny is locate for any completion.
func (q *Queue) locateAny(c *desc.CQE, w desc.OwnWord) (at place, ok bool) {
	ix, bc, index := uint32(c.WQEID()), c.ByteCount(), uint32(w.WQECounter())
	strides := uint32(bc.Strides())
	start := q.strides // of a WQE that is not posted all strides are used
	if ix < uint32(len(q.consumed)) {
		start = q.consumed[ix]
	}
	held := strides > 0 && strides <= q.strides-start
	if w.Opcode() != desc.OpRespSend {
		q.failed(c, w)
		if held {
			q.use(ix, start+strides)
		}
		return at, false
	}
	// Strides of a WQE complete in order.
	if !held || index != start && !bc.Filler() {
		q.bad()
		return at, false
	}
	q.use(ix, start+strides)
	if bc.Filler() {
		q.count.fillerCQEs++
		q.count.fillerStrides += uint64(strides)
		return at, false
	}
	n := uint32(bc.Bytes())
	if n-1 >= q.maxFrame && !q.fits(c, n) { // 0 and too long at once
		return at, false
	}
	if n > strides<<(q.strideShift&31) {
		q.bad()
		return at, false
	}
	return q.placeAt(ix, index, n), true
}

// use marks the strides of WQE ix up to end as used. A WQE that is used up
// leaves the ring: it is appended to the chain of free entries.
func (q *Queue) use(ix, end uint32) {
	q.consumed[ix] = end
	if end == q.strides {
		q.current = q.rq.List[ix].Next()
		q.rq.List[q.tail].SetNext(uint16(ix))
		q.tail = uint16(ix)
		q.posted--
	}
}

// fits reports whether a frame of n bytes can be one that was asked for, and
// counts it when it is not.
func (q *Queue) fits(c *desc.CQE, n uint32) bool {
	if n > q.maxFrame && !(q.lro && c.LROSegs() > 1) {
		q.lose(packet.DropOversize)
		return false
	}
	if n == 0 {
		q.bad()
		return false
	}
	return true
}

// push gives the first free entry to the device. One entry always stays free,
// so that the chain has an end to append to.
func (q *Queue) push() {
	q.consumed[q.head] = 0
	q.head = q.rq.List[q.head].Next()
	q.posted++
	q.counter++
}
