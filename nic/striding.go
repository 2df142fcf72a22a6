package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
)

// fetch makes sure that the current WQE has a free stride, and takes the next
// one from the linked list if it has not (facts/mlx5e.md 1.1, 13).
func (q *queue) fetch() bool {
	if q.stride < q.strides {
		return true
	}
	if !q.posted() {
		return false
	}
	if int(q.next) >= len(q.rq.List) {
		q.misused()
		return false
	}
	w := &q.rq.List[q.next]
	q.wqe, q.next = q.next, w.Next()
	q.addr, q.stride = w.Data().Addr(), 0
	q.taken++
	return true
}

// receiveStriding takes the strides that the frame needs. When the rest of the
// WQE is too short for it, a filler completion skips the rest; with spill the
// frame runs on into the filler entries of the translation instead.
func (q *queue) receiveStriding(a, b []byte, c *desc.CQE, frames int) fate {
	n := len(a) + len(b)
	need := (n-1)>>q.rq.LogStrideBytes + 1
	if need > q.strides {
		return oversize
	}
	if !q.fetch() {
		return q.dry()
	}
	if rest := q.strides - q.stride; need > rest && !q.spill {
		if !q.hasRoom() {
			return cqOverrun
		}
		q.fill(rest)
		if !q.fetch() {
			return q.dry()
		}
	}
	if !q.hasRoom() {
		return cqOverrun
	}
	p := place{q.wqe, uint16(q.stride), uint16(min(need, q.strides-q.stride))}
	at := q.addr + uint64(q.stride)<<q.rq.LogStrideBytes
	q.stride += int(p.strides)
	if !q.write(at, a) || !q.write(at+uint64(len(a)), b) {
		q.stop(desc.LocalProt, p)
		return errored
	}
	c.SetWQEID(p.id)
	c.SetByteCount(desc.PackByteCount(p.strides, uint16(n)))
	return q.complete(c, p, frames)
}

// dry says why there was no WQE: the driver posted none, or the queue stopped.
func (q *queue) dry() fate {
	if !q.live {
		return queueDown
	}
	return noBuffer
}

// fill completes the rest of the current WQE without a frame.
func (q *queue) fill(rest int) {
	var c desc.CQE
	c.SetWQEID(q.wqe)
	c.SetByteCount(desc.FillerByteCount(uint16(rest)))
	q.out.put(&c, uint16(q.stride), desc.OpRespSend, 0)
	q.count.fillers++
	q.count.fillerStrides += uint64(rest)
	q.stride = q.strides
}

// write copies src to an address behind the queue's translation, page by page.
// It reports false where an entry is missing or may not be written, or where
// the page is not mapped.
func (q *queue) write(at uint64, src []byte) bool {
	shift := q.rq.LogPageBytes
	for len(src) > 0 {
		i, off := at>>shift, at&(1<<shift-1)
		if i >= uint64(len(q.rq.MTT)) || q.rq.MTT[i]&desc.MTTWrite == 0 {
			return false
		}
		n := min(len(src), 1<<shift-int(off))
		if !q.reach(q.rq.MTT[i]&^desc.MTTAccessBits+off, src[:n]) {
			return false
		}
		src, at = src[n:], at+uint64(n)
	}
	return true
}

// reach copies src to an I/O address; all of it lies in one page.
func (q *queue) reach(iova uint64, src []byte) bool {
	if q.astray {
		iova, q.astray = 0, false // no page is mapped at 0
		q.count.faults.IOFaults++
	}
	dst, ok := q.dom.Reach(iova, uint32(len(src)), true)
	if !ok {
		return false
	}
	if q.cold {
		mem.CopyNT(dst, src)
	} else {
		copy(dst, src)
	}
	return true
}
