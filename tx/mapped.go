package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// asksNothing says that the packet, as most that are forwarded, wants neither
// a checksum nor a tag, and no handler has marked it.
func asksNothing(p *packet.Packet) bool {
	return p.CSumKind != packet.CSumPartial && p.TagType == 0 && p.Drop == packet.DropNone &&
		p.Link == header.LinkEthernet && p.Flags&packet.FlagLRO == 0
}

// oneFrame says that fragments are all that hangs on the packet.
func oneFrame(s *packet.SharedInfo) bool {
	return s.NumFrags <= packet.MaxFrags && s.Chain == 0 && s.GSO.Size == 0 &&
		s.GSO.Type == packet.GSONone
}

// scattered says that the packet is in pieces and asks for nothing.
func (q *Queue) scattered(p *packet.Packet) bool {
	return p.Len != p.Linear && q.limits.pieces && asksNothing(p)
}

// sendPieces is plain for a scattered packet that is mapped: it is checked while
// its pieces are mapped. It reports false, and has posted nothing, when there is
// anything else to be said about it, or against it: examine finds out what.
//
// Budget: 30 ns, and 12 for each piece, with its share of Reap.
func (q *Queue) sendPieces(i uint32, p *packet.Packet) bool {
	s := p.Shared()
	if !oneFrame(s) || p.Len > q.limits.frame || p.Len < minFrame {
		return false
	}
	segments := 2 + int(s.NumFrags)
	if p.Linear > 0 {
		segments++
	}
	w, from := q.begin(desc.SendFrame, segments, 0, 0), q.mark()
	w = w[2*desc.SegmentBytes:]
	if p.Linear > 0 {
		iova, ok := q.reachHead(p, 0, p.Linear)
		if !ok {
			return false
		}
		segment(w).Set(p.Linear, desc.MemoryKey, iova)
		w = w[desc.SegmentBytes:]
	}
	n, ok := q.mapFrags(w, s.Frags[:s.NumFrags])
	if !ok || n+uint64(p.Linear) != uint64(p.Len) {
		q.unwind(from)
		return false
	}
	q.countHead(from, p.Linear)
	q.head.bytes += uint64(onWire(p.Len))
	q.head.packets++
	q.count.posted++
	q.count.ways[Mapped].add(p.Len)
	q.hold(i)
	q.commit(segments)
	return true
}
