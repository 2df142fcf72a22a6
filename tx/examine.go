package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// examine finds out what the packet asks for, or why it is refused. Nothing is
// posted yet.
func (q *Queue) examine(t *task) packet.Drop {
	p := t.p
	switch {
	case p.Drop != packet.DropNone:
		return p.Drop // by its handler
	case p.Link != header.LinkEthernet:
		return packet.DropBadLink
	case p.Len < minFrame:
		return packet.DropTooShort
	case hasShared(p):
		return q.examineShared(t)
	case q.tooLong(p, p.Len):
		return packet.DropTooLong
	}
	return packet.DropNone
}

// hasShared says whether SharedInfo describes the packet. Of one that is all in
// its head, and asks for nothing, nobody has written it.
func hasShared(p *packet.Packet) bool {
	return p.Len != p.Linear || p.CSumKind == packet.CSumPartial ||
		p.Flags&packet.FlagLRO != 0
}

// tooLong says whether a frame of n bytes, that begins as the packet, exceeds
// the MTU.
func (q *Queue) tooLong(p *packet.Packet, n uint32) bool {
	return n > q.limits.frame && q.tooLongTagged(p, n)
}

// tooLongTagged does not count up to two tags of the frame.
func (q *Queue) tooLongTagged(p *packet.Packet, n uint32) bool {
	if n > q.limits.frame+2*header.VLANBytes {
		return true
	}
	var info header.Info
	header.Parse(header.LinkEthernet, p.Bytes(), nil, &info)
	return n > q.limits.frame+header.VLANBytes*min(uint32(info.Tags), 2)
}

// examineShared is examine for a packet with a SharedInfo.
func (q *Queue) examineShared(t *task) packet.Drop {
	p, s := t.p, t.p.Shared()
	n, ok := sizeOf(s)
	if n += uint64(p.Linear); ok && s.Chain != 0 {
		n, ok = t.sizeOfChain(q.from.slab, s.Chain, n)
	}
	if !ok || n != uint64(p.Len) {
		return packet.DropBadFrags
	}
	t.frags = s.Frags[:s.NumFrags]
	t.soft = s.Chain != 0 || p.TagType != 0 && p.Linear < minFrame ||
		q.limits.minInline != desc.InlineNone && q.headersSplit(p)
	if s.GSO.Size != 0 || s.GSO.Type != packet.GSONone {
		t.gso = &s.GSO
		return q.examineLarge(t)
	}
	if q.tooLong(p, p.Len) {
		return packet.DropTooLong
	}
	if p.CSumKind == packet.CSumPartial {
		return q.examineSum(t, &s.GSO)
	}
	return packet.DropNone
}

// sizeOf adds up fragments. Lengths are added up in 64 bits: no narrow type
// holds them (facts/mlx5e.md 12, bug 55).
func sizeOf(s *packet.SharedInfo) (n uint64, ok bool) {
	if s.NumFrags > packet.MaxFrags {
		return 0, false
	}
	for i := range s.Frags[:s.NumFrags] {
		if s.Frags[i].Len == 0 {
			return 0, false
		}
		n += uint64(s.Frags[i].Len)
	}
	return n, true
}

// sizeOfChain adds the packets of a chain to n. Each has a byte at least, so
// that a ring of them ends.
func (t *task) sizeOfChain(slab *packet.Slab, i uint32, n uint64) (uint64, bool) {
	for i != 0 && n <= uint64(t.p.Len) {
		if i > uint32(slab.Cap()) {
			return 0, false
		}
		c := slab.At(i)
		if c.Len == 0 || c.Len < c.Linear {
			return 0, false
		}
		if c.Len != c.Linear {
			if m, ok := sizeOf(c.Shared()); !ok || m != uint64(c.Len-c.Linear) {
				return 0, false
			}
		}
		n += uint64(c.Len)
		i = c.Next
	}
	return n, true
}

// examineSum finds out who fills the checksum in. The device goes by the
// headers: where they lead it to another one, software does it.
func (q *Queue) examineSum(t *task, g *packet.GSO) packet.Drop {
	p, at := t.p, uint64(g.CSumStart)+uint64(g.CSumOffset)
	if g.CSumStart == 0 || at+2 > uint64(p.Len) {
		return packet.DropBadCSum
	}
	var info header.Info
	if q.limits.offloads&Checksum != 0 && !t.soft && tagKnown(p.TagType) {
		header.Parse(header.LinkEthernet, p.Bytes(), &q.parse, &info)
		if info.L4 == g.CSumStart && sumAt(info.Proto) == g.CSumOffset &&
			info.Payload != 0 && info.Flags&header.FlagFragment == 0 {
			t.sums = sumsOf(&info)
			return packet.DropNone
		}
	}
	t.soft = true
	return packet.DropNone
}

// sumsOf is which checksums the device fills in (facts/mlx5e.md 7.3).
func sumsOf(info *header.Info) desc.SendCSum {
	if info.Encap != header.EncapNone {
		return desc.SendCSumL3 | desc.SendCSumInnerL3 | desc.SendCSumInnerL4
	}
	return desc.SendCSumL3 | desc.SendCSumL4
}

// sumAt is where a transport header has its checksum; 0: nowhere.
func sumAt(proto uint8) uint16 {
	switch proto {
	case header.ProtoTCP:
		return header.TCPSum
	case header.ProtoUDP:
		return header.UDPSum
	}
	return 0
}

// tagKnown says whether a device finds its way past such a tag.
func tagKnown(tagType uint16) bool {
	return tagType == 0 || tagType == header.TypeVLAN || tagType == header.TypeQinQ
}
