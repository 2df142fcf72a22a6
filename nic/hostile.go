package nic

import "github.com/millrace-net/millrace/desc"

// A lie is one way for a completion to break the contract.
type lie uint8

const (
	lieWQEID lie = iota
	lieByteCount
	lieStrides
	lieStrideIndex
	lieOpcode
	lieOverrun
	numLies
)

// chance and counter of a lie.
func (m *mishaps) kind(l lie) (perMille int, count *uint64) {
	h, c := &m.Hostile, &m.count.faults
	switch l {
	case lieWQEID:
		return h.WQEID, &c.WQEIDs
	case lieByteCount:
		return h.ByteCount, &c.ByteCounts
	case lieStrides:
		return h.Strides, &c.Strides
	case lieStrideIndex:
		return h.StrideIndex, &c.StrideIndices
	case lieOpcode:
		return h.Opcode, &c.Opcodes
	}
	return h.Overrun, &c.Overruns
}

// lie completes the frame with a false completion, now and then, and reports
// whether it did.
func (m *mishaps) lie(q *queue, c *desc.CQE, p place, frames int) bool {
	for l := range numLies {
		perMille, count := m.kind(l)
		if !m.hit(perMille) {
			continue
		}
		if l == lieOverrun {
			m.overrun(q)
			return false
		}
		*count += uint64(frames)
		op := desc.OpRespSend
		if l == lieOpcode {
			op = m.opcode()
		}
		q.out.put(c, m.falsify(l, q, c, p), op, 0)
		return true
	}
	return false
}

// falsify changes one field of the completion and returns its counter.
func (m *mishaps) falsify(l lie, q *queue, c *desc.CQE, p place) uint16 {
	n := c.ByteCount()
	switch l {
	case lieWQEID:
		wqes := 1 << q.rq.LogWQEs
		c.SetWQEID(uint16(wqes + m.rand.IntN(1<<16-wqes)))
	case lieByteCount:
		held := min(int(max(1, p.strides))<<q.rq.LogStrideBytes, desc.MaxBytes-1)
		over := held + 1 + m.rand.IntN(desc.MaxBytes-held)
		c.SetByteCount(desc.PackByteCount(p.strides, uint16(over)))
	case lieStrides:
		other := (p.strides + 1 + uint16(m.rand.IntN(desc.MaxStrides))) & desc.MaxStrides
		c.SetByteCount(desc.PackByteCount(other, n.Bytes()))
	case lieStrideIndex:
		return uint16(q.strides + m.rand.IntN(1<<16-q.strides))
	}
	return p.counter
}

// opcode is any but that of a frame and that of an error.
func (m *mishaps) opcode() desc.Opcode {
	for {
		op := desc.Opcode(m.rand.IntN(16))
		if op != desc.OpRespSend && op != desc.OpRespErr {
			return op
		}
	}
}

// overrun takes back the completion before, if the driver has not been given
// it, so that the next one is written over it.
func (m *mishaps) overrun(q *queue) {
	o := &q.out
	if o.closeRun(); o.waiting() == 0 {
		return
	}
	p := o.pending(o.written - 1)
	if p.word.Format() != desc.FormatPlain || p.word.Opcode() == desc.OpInvalid {
		return // part of a session
	}
	m.count.faults.Overruns += uint64(p.frames)
	m.count.fates[spoilt] += uint64(p.frames)
	o.written--
	o.used--
	o.run.on = false
}

// told is how many minis a session of n says it has.
func (o *completions) told(n int) int {
	m := o.faults
	if m == nil || !m.hit(m.Hostile.Minis) {
		return n
	}
	for i := o.run.at; i != o.run.at+uint32(n); i++ {
		p := o.pending(i)
		m.count.faults.Minis += uint64(p.frames)
		m.count.fates[spoilt] += uint64(p.frames)
		p.frames = 0
	}
	if o.run.kind == desc.CompressEnhanced {
		return (n+m.rand.IntN(15))%16 + 1
	}
	return n + 1 + m.rand.IntN(1<<20)
}
