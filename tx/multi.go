package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// A session is an ENHANCED_MPSW WQE that is being filled: one heading, then a
// data segment for each packet (facts/mlx5e.md 1.9).
//
//	ctrl | eth | pointer | inline data .. | pointer | ..
type session struct {
	bytes    []byte // to the end of the fragment
	segments int    // used
	limit    int    // there are; 0: none is open
	frames   int
	sums     desc.SendCSum
}

// simple says that the packet is a frame in one piece that asks for nothing, and
// may share a WQE: examine would find nothing out.
func (q *Queue) simple(p *packet.Packet) bool {
	return p.Len == p.Linear && p.Len-minFrame < q.limits.simple && asksNothing(p)
}

// maxShared is the most bytes that fit a session inline.
const maxShared = (desc.MaxMultiSegments-2)*desc.SegmentBytes - desc.InlineDataStart

// shares says whether the packet may be one of many in a WQE: what the device
// does for it must be said by the heading alone, and its bytes must be one
// piece.
func (q *Queue) shares(t *task, way Way) bool {
	return q.limits.offloads&MultiPacket != 0 && t.p.TagType == 0 &&
		(len(t.frags) == 0 || way != Mapped) &&
		(way != Inline || t.p.Len <= maxShared)
}

// share puts the packet into the session. A map that fails leaves what the
// session holds alone (facts/mlx5e.md 12, bug 13).
func (q *Queue) share(t *task, way Way) packet.Drop {
	need := 1
	if way == Inline {
		need = inlineSegments(t.p.Len)
	}
	w := q.join(need, t.sums)
	if way == Inline {
		t.inlineData(w)
	} else if from := q.mark(); !q.place(w, t, way, 0) {
		return q.fail(from)
	}
	q.finish(t, way)
	q.session.joined(need)
	return packet.DropNone
}

// shareMapped is share for a simple packet that is mapped, without a detour.
func (q *Queue) shareMapped(i uint32, p *packet.Packet) packet.Drop {
	w := q.join(1, 0)
	iova, ok := q.reach(p.Head, p.Start+p.Data, p.Len)
	if !ok {
		return q.fail(q.mark())
	}
	segment(w).Set(p.Len, desc.MemoryKey, iova)
	q.hold(i)
	q.shared(p.Len, 1, Mapped)
	return packet.DropNone
}

// sharePieces is share for a scattered packet that is copied. It reports false,
// and has posted nothing, as sendPieces does.
func (q *Queue) sharePieces(i uint32, p *packet.Packet, way Way) bool {
	s := p.Shared()
	return p.Len-minFrame < q.limits.simple && oneFrame(s) &&
		q.shareCopy(i, p, s.Frags[:s.NumFrags], way)
}

// shareCopy copies a packet into the session, or to a buffer. It reports false
// when its pieces are not as long as it says.
func (q *Queue) shareCopy(i uint32, p *packet.Packet, frags []packet.Frag, way Way) bool {
	n, need, from := p.Len, 1, q.head.bufs
	if way == Inline {
		need = inlineSegments(n)
	}
	w := q.join(need, 0)
	dst, iova := []byte(nil), uint64(0)
	if way == Inline {
		segment(w).SetInline(int(n))
		dst = w[desc.InlineDataStart : desc.InlineDataStart+n]
	} else {
		dst, iova = q.bufs.take(&q.head.bufs, n)
		segment(w).Set(n, desc.MemoryKey, iova)
	}
	if frags == nil {
		copy(dst, p.Bytes())
	} else if !gather(dst, p.Bytes(), frags) {
		q.head.bufs = from
		return false
	}
	q.from.send(i)
	q.shared(n, need, way)
	return true
}

// shared counts a packet of n bytes that took so many segments of the session.
func (q *Queue) shared(n uint32, need int, way Way) {
	q.session.joined(need)
	q.head.bytes += uint64(onWire(n))
	q.head.packets++
	q.count.posted++
	q.count.ways[way].add(n)
}

// join finds room for so many segments in the session, or in another one. All
// packets of a session have the same heading: of the first bytes that are to
// be compared ours differ in the checksums only.
func (q *Queue) join(need int, sums desc.SendCSum) []byte {
	s := &q.session
	if s.segments+need > s.limit || s.sums != sums {
		q.openSession(need, sums)
	}
	return s.bytes[s.segments*desc.SegmentBytes:]
}

// openSession closes the session and opens one with room for so many segments.
func (q *Queue) openSession(need int, sums desc.SendCSum) {
	w, s := q.begin(desc.SendMulti, 2+need, sums, 0), &q.session
	s.bytes, s.segments, s.sums = w, 2, sums
	s.limit = min(len(w)/desc.SegmentBytes, int(q.ring.Free())*desc.SegmentsPerBlock,
		desc.MaxMultiSegments)
}

// joined counts them.
func (s *session) joined(need int) {
	s.segments += need
	s.frames++
}

// closeSession commits the session; of one that nothing was put into nothing
// is left.
func (q *Queue) closeSession() {
	s := &q.session
	if s.frames > 0 {
		q.heading(s.bytes, desc.SendMulti, s.segments, s.sums, 0)
		q.commit(s.segments)
		q.count.multiBlocks++
		q.count.multiPackets += uint64(s.frames)
	}
	s.limit, s.segments, s.frames = 0, 0, 0
}
