package nic

import "github.com/millrace-net/millrace/desc"

// receiveCyclic scatters the frame over the data segments of the next WQE
// (facts/mlx5e.md 1.5, 13). One that is longer than all of them is an error
// that costs the WQE, and nothing is written.
func (q *queue) receiveCyclic(a, b []byte, c *desc.CQE, frames int) fate {
	if !q.posted() {
		return q.dry()
	}
	if !q.hasRoom() {
		return cqOverrun
	}
	n := q.rq.SegsPerWQE
	p := place{counter: q.taken}
	first := int(q.taken) & (1<<q.rq.LogWQEs - 1) * n
	q.taken++
	var wqe [desc.MaxSegsPerWQE]desc.DataSegment
	s := scatter{segs: wqe[:copy(wqe[:], q.rq.Segments[first:first+n])]}
	if s.room() < uint64(len(a)+len(b)) {
		q.errorCQE(desc.LocalLength, p)
		return errored
	}
	if !s.write(q, a) || !s.write(q, b) {
		q.stop(desc.LocalProt, p)
		return errored
	}
	c.SetByteCount(desc.PackByteCount(0, uint16(len(a)+len(b))))
	return q.complete(c, p, frames)
}

// A scatter is a place in a list of data segments.
type scatter struct {
	segs []desc.DataSegment
	off  uint32 // in the first of them
}

// segBytes is the length of a segment. The key that ends the list gives 0, and
// the wish for padding is not granted.
func segBytes(s *desc.DataSegment) uint32 {
	if s.LKey() == desc.TerminateKey {
		return 0
	}
	return s.ByteCount() &^ desc.StartPadding
}

// room is how many bytes fit, up to the first segment of length 0.
func (s *scatter) room() (n uint64) {
	for i := range s.segs {
		m := segBytes(&s.segs[i])
		if m == 0 {
			break
		}
		n += uint64(m)
	}
	return n
}

// write copies src on into the segments; it fits.
func (s *scatter) write(q *queue, src []byte) bool {
	for len(src) > 0 {
		seg := &s.segs[0]
		n := min(uint32(len(src)), segBytes(seg)-s.off)
		if !q.reach(seg.Addr()+uint64(s.off), src[:n]) {
			return false
		}
		src = src[n:]
		if s.off += n; s.off == segBytes(seg) {
			s.segs, s.off = s.segs[1:], 0
		}
	}
	return true
}
