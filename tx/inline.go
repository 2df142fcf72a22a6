package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// inline writes a SEND WQE with all of the packet in it: in a data segment of
// its own, or, where the WQE has to begin with headers, as the inline header.
//
//	ctrl | eth | length, bytes ..        ctrl | eth [bytes ..]
func (q *Queue) inline(t *task) packet.Drop {
	p := t.p
	if q.inlineLen(t) > 0 {
		return q.inlineAll(t)
	}
	segments := 2 + inlineSegments(p.Len)
	w := q.begin(desc.SendFrame, segments, t.sums, 0)
	if p.TagType != 0 {
		ethOf(w).InsertTag(p.TagTCI, p.TagType == header.TypeQinQ)
	}
	t.inlineData(w[2*desc.SegmentBytes:])
	q.finish(t, Inline)
	q.commit(segments)
	return packet.DropNone
}

// inlineAll makes the packet an inline header with nothing behind.
func (q *Queue) inlineAll(t *task) packet.Drop {
	p := t.p
	n := t.inlined(p.Len)
	segments := 2 + desc.InlineSegments(n)
	w := q.begin(desc.SendFrame, segments, t.sums, 0)
	ethOf(w).SetInline(n)
	dst := w[inlineAt:]
	t.copyTo(dst[t.copyHeaders(dst, p.Linear):], p.Linear)
	q.finish(t, Inline)
	q.commit(segments)
	return packet.DropNone
}

// inlineData makes an inline data segment of the packet.
func (t *task) inlineData(w []byte) {
	segment(w).SetInline(int(t.p.Len))
	t.copyTo(w[desc.InlineDataStart:], 0)
}

// inlineSegments is how many segments an inline data segment of n bytes takes.
func inlineSegments(n uint32) int {
	return int(desc.InlineDataStart+n+desc.SegmentBytes-1) / desc.SegmentBytes
}
