package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A cutter is a packet on its way through package gso: one that the device
// cannot cut, whose checksum it cannot fill in, or whose pieces are too many.
// Its frames are copied to premapped buffers. Where the queue is full in the
// middle of a packet, it goes on in Reap, before anything else is posted.
type cutter struct {
	segmenter gso.Segmenter
	pieces    [][]byte // lent to it, as is head
	head      [maxJumboHeader]byte
	tagType   uint16 // of the tag that each frame gets; 0: none
	tci       uint16
	from      *source
	index     uint32
	on        bool
	fault     error // what package gso said of the newest packet; Check tells it
}

// maxJumboHeader is the longest header that an option is taken out of.
const maxJumboHeader = 512

// cut takes a packet and posts the first of its frames.
func (q *Queue) cut(t *task) packet.Drop {
	if reason := q.lay(t); reason != packet.DropNone {
		return reason
	}
	c := &q.cutter
	c.from, c.index, c.on = q.from, t.index, true
	q.count.soft.add(t.p.Len)
	if t.p.TagType != 0 {
		q.count.addedVLAN++
	}
	q.count.posted++
	q.count.more-- // frames and bytes are counted as they are posted
	q.advance()
	return packet.DropNone
}

// lay gives the packet to the segmenter, which checks it.
func (q *Queue) lay(t *task) packet.Drop {
	c, p := &q.cutter, t.p
	g, reason := packet.GSO{}, packet.DropBadCSum
	if t.gso != nil {
		g, reason = *t.gso, packet.DropBadGSO
	} else if p.CSumKind == packet.CSumPartial {
		s := &p.Shared().GSO
		g.CSumStart, g.CSumOffset = s.CSumStart, s.CSumOffset
	}
	var head []byte
	head, c.pieces = gso.Pieces(q.from.slab, p, c.pieces[:0])
	if t.gso != nil && t.jumbo != 0 && g.HdrLen <= maxJumboHeader {
		head = c.shorten(head, &g)
	}
	if c.fault = c.segmenter.Start(header.LinkEthernet, head, c.pieces, g); c.fault != nil {
		c.segmenter = gso.Segmenter{}
		return reason
	}
	c.tagType, c.tci = p.TagType, p.TagTCI
	return packet.DropNone
}

// shorten makes headers without the jumbo option; what else is in the linear
// part becomes the first piece.
func (c *cutter) shorten(head []byte, g *packet.GSO) []byte {
	n := copy(c.head[:], head[:g.HdrLen])
	c.pieces = append(c.pieces, nil)
	copy(c.pieces[1:], c.pieces)
	c.pieces[0] = head[n:]
	g.CSumStart -= jumboBytes
	g.HdrLen -= jumboBytes
	return c.head[:dropJumbo(c.head[:n], jumboAt)]
}

// next writes the next frame, with its tag, to b, which is as long as it.
func (c *cutter) next(b []byte) {
	if c.tagType == 0 {
		c.segmenter.Next(b)
		return
	}
	c.segmenter.Next(b[header.VLANBytes:])
	header.InsertTag(b, c.tagType, c.tci)
}

// need is the length of the next frame.
func (c *cutter) need() uint32 {
	n := uint32(c.segmenter.Need())
	if c.tagType != 0 {
		n += header.VLANBytes
	}
	return n
}

// advance posts frames while there is room. The packet ends with the last one,
// and goes home: all of it was copied.
func (q *Queue) advance() {
	c := &q.cutter
	for c.on && !q.full() {
		n, wire := c.need(), onWire(uint32(c.segmenter.Need()))
		next := q.head
		buf, iova := q.bufs.take(&next.bufs, n)
		c.next(buf)
		next.bytes += uint64(wire)
		q.count.more++
		last := c.segmenter.Left() == 0
		if last {
			next.packets++
		}
		q.emit(buf, iova, next)
		if last {
			q.endCut()
		}
	}
}

// endCut gives the packet home.
func (q *Queue) endCut() {
	c := &q.cutter
	c.on, c.segmenter = false, gso.Segmenter{}
	clear(c.pieces)
	c.from.send(c.index)
}

// emit posts a frame that lies in a buffer. The queue is at next then, but not
// before the session is closed where it has to be: what it holds ends before.
func (q *Queue) emit(b []byte, iova uint64, next position) {
	if q.limits.offloads&MultiPacket != 0 {
		segment(q.join(1, 0)).Set(uint32(len(b)), desc.MemoryKey, iova)
		q.head = next
		q.session.joined(1)
		return
	}
	inlined := q.inlineOf(b, false)
	at := 2 + desc.InlineSegments(inlined)
	segments := at
	if inlined < len(b) {
		segments++
	}
	w := q.begin(desc.SendFrame, segments, 0, 0)
	if inlined > 0 {
		ethOf(w).SetInline(copy(w[inlineAt:], b[:inlined]))
	}
	if segments > at {
		segment(w[at*desc.SegmentBytes:]).Set(
			uint32(len(b)-inlined), desc.MemoryKey, iova+uint64(inlined))
	}
	q.head = next
	q.commit(segments)
}
