package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// plain writes a SEND WQE: the packet is one frame (facts/mlx5e.md 1.8).
//
//	ctrl | eth [inline header] | data segment, one for each piece
func (q *Queue) plain(t *task, way Way) packet.Drop {
	p, skip := t.p, uint32(0)
	if q.limits.minInline != desc.InlineNone || p.TagType != 0 {
		skip = q.inlineLen(t)
	}
	at := 2 + desc.InlineSegments(t.inlined(skip))
	segments := at
	if way == Mapped {
		segments += t.pieces(skip)
	} else if p.Len > skip {
		segments++
	}
	w := q.begin(desc.SendFrame, segments, t.sums, 0)
	if skip > 0 {
		ethOf(w).SetInline(t.copyHeaders(w[inlineAt:], skip))
	} else if p.TagType != 0 {
		ethOf(w).InsertTag(p.TagTCI, p.TagType == header.TypeQinQ)
	}
	from := q.mark()
	ok := segments == at
	if !ok && way == Mapped {
		ok = q.point(w[at*desc.SegmentBytes:], t, skip)
		q.countHead(from, p.Linear-skip)
	} else if !ok {
		ok = q.place(w[at*desc.SegmentBytes:], t, way, skip)
	}
	if !ok {
		return q.fail(from)
	}
	q.finish(t, way)
	q.commit(segments)
	return packet.DropNone
}

// inlineAt is where an inline header begins in a WQE.
const inlineAt = desc.SegmentBytes + desc.InlineStart

// finish counts a packet that is one frame, and gives it home if all of it was
// copied.
func (q *Queue) finish(t *task, way Way) {
	q.account(t, onWire(t.p.Len))
	q.count.ways[way].add(t.p.Len)
	if t.p.TagType != 0 {
		q.count.addedVLAN++
	}
	if way == Mapped {
		q.hold(t.index)
	} else {
		q.from.send(t.index)
	}
}

// inlined is the length of an inline header of the packet's first n bytes.
func (t *task) inlined(n uint32) int {
	if n > 0 && t.p.TagType != 0 {
		return int(n) + header.VLANBytes
	}
	return int(n)
}

// inlineLen is how many linear bytes of a frame have to lie in its WQE, in
// front of the rest (facts/mlx5e.md 7.1, 7.2).
func (q *Queue) inlineLen(t *task) uint32 {
	if q.limits.minInline == desc.InlineNone {
		if t.p.TagType == 0 || q.inserts(t.p.TagType) {
			return 0
		}
		return minFrame
	}
	return uint32(q.inlineOf(t.p.Bytes(), t.p.TagType != 0))
}

// inlineOf is how many bytes of a frame that begins with b the device wants to
// find in the WQE; a tag comes in addition.
func (q *Queue) inlineOf(b []byte, tagged bool) int {
	var info header.Info
	n := 0
	switch mode := q.limits.minInline; mode {
	case desc.InlineNone:
		return 0
	case desc.InlineL2, desc.InlineIP:
		header.Parse(header.LinkEthernet, b, nil, &info)
		if n = int(info.Outer); mode == desc.InlineIP && info.L4 != 0 {
			n = int(info.L4)
		}
	case desc.InlineTCPUDP:
		n = header.Length(header.LinkEthernet, b)
	}
	least := minInlineL2
	if tagged {
		least = minFrame
	}
	return min(max(n, least), len(b), maxInlineHeader)
}

const (
	minInlineL2 = header.EthernetBytes + header.VLANBytes

	// maxInlineHeader bounds an inline header without its tag, so that the
	// segments of a frame with the most fragments fit a WQE behind it.
	maxInlineHeader = 686
)

// headersSplit says that headers that the device wants to find may go on in the
// packet's fragments.
func (q *Queue) headersSplit(p *packet.Packet) bool {
	switch {
	case p.Len == p.Linear:
		return false
	case p.Linear < minInlineL2:
		return true
	case q.limits.minInline == desc.InlineL2:
		return false
	}
	var info header.Info
	header.Parse(header.LinkEthernet, p.Bytes(), nil, &info)
	return info.Payload == 0
}

// inserts says whether the device puts such a tag in.
func (q *Queue) inserts(tagType uint16) bool {
	return q.limits.offloads&VLANInsert != 0 && tagKnown(tagType)
}
