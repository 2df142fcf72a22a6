package gro

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/packet"
)

// A Table merges the packets of one queue. It belongs to the goroutine of the
// queue. Packets that it holds are in none of the caller's batches; Flush
// gives them back.
type Table struct {
	engine
	slab    *packet.Slab
	seg     segment
	scratch [maxHeader]byte // headers that are only partly in the head
}

// New makes a table for packets of the slab.
func New(c Config, slab *packet.Slab) (*Table, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Table{slab: slab}
	t.open(c)
	return t, nil
}

// Receive takes all packets of in, which is empty afterwards, and puts what is
// finished into out, in order; the caller owns those. out needs room for
// in.Len() + Held() packets. A packet of which nothing was merged leaves as it
// came, but for CSumKind and Level where a checksum was verified here. A packet
// that is merged already and lies in its head alone must carry FlagLRO.
func (t *Table) Receive(in, out *packet.Batch) {
	t.stats.Packets += uint64(in.Len())
	for k := range in.Len() {
		t.receive(in.Index(k), out)
	}
	in.Reset()
}

// Flush puts all held packets into out, oldest first. The caller owns them.
func (t *Table) Flush(out *packet.Batch) {
	for t.held > 0 {
		t.complete(t.slots[0].next, out)
	}
}

// Expire puts into out, oldest first, the packets that have been held for
// Config.MaxAge or longer; the caller owns them. Called at the end of each poll
// in place of Flush, it lets packets of several polls be merged. Age counts from
// the call before the packet came, so none is held longer than MaxAge and the
// time between two calls. now counts ns and never goes back.
func (t *Table) Expire(now int64, out *packet.Batch) {
	for t.held > 0 && now-t.slots[t.slots[0].next].born >= t.maxAge {
		t.complete(t.slots[0].next, out)
	}
	t.tick = now
}

// Held is the number of packets held.
func (t *Table) Held() int { return t.held }

// Stats counts what the table did.
func (t *Table) Stats() Stats {
	s := t.stats
	s.finish(t.held)
	s.ByFrags = s.Merged - s.ByChain
	return s
}

func (t *Table) receive(i uint32, out *packet.Batch) {
	p := t.slab.At(i)
	if p.CSumKind == packet.CSumValid && p.Flags&^packet.FlagECNMark == 0 &&
		(p.Len == p.Linear || isSegment(p.Shared())) {
		head := p.Bytes()
		hash := hashPlain(head)
		slot, ended := t.quickPlain(hash, head, int(p.Len), apart(p), nil)
		if slot != 0 {
			t.attach(&t.slots[slot], i, p)
			if ended {
				t.complete(slot, out)
			}
			return
		}
		if p.Link == header.LinkEthernet {
			if slot = t.startPlain(hash, head, int(p.Len), apart(p)); slot != 0 {
				t.slots[slot].own(i, p) // plain, and the first of its flow
				return
			}
		}
	}
	t.receiveAny(i, p, out)
}

// isSegment tells that a packet was not merged already.
func isSegment(sh *packet.SharedInfo) bool { return sh.GSO.Size == 0 && sh.Chain == 0 }

// isUDP tells that a packet is plain UDP on Ethernet, by its first bytes.
func isUDP(p *packet.Packet) bool {
	head := p.Bytes()
	if p.Link != header.LinkEthernet || len(head) < header.EthernetBytes+header.IPv4Bytes {
		return false
	}
	switch ip := head[header.EthernetBytes:]; header.EthernetAt(head, 0).Type() {
	case header.TypeIPv4:
		h := header.IPv4At(ip, 0)
		return h[0] == 0x45 && h.Proto() == header.ProtoUDP && !h.IsFragment()
	case header.TypeIPv6:
		return ip[0]>>4 == 6 && ip[6] == header.ProtoUDP
	}
	return false
}

// receiveAny is receive for what is not plain or does not go on.
func (t *Table) receiveAny(i uint32, p *packet.Packet, out *packet.Batch) {
	if t.udpPasses && p.CSumKind != packet.CSumNone && isUDP(p) {
		t.stats.Reasons[ReasonUDPOff]++
		t.give(i, out)
		return
	}
	s := &t.seg
	t.describe(p, s)
	slot, ended := t.quick(s)
	if slot == 0 {
		slot, ended = t.decided(i, p, out)
	}
	if slot != 0 {
		t.attach(&t.slots[slot], i, p)
	}
	if ended {
		t.complete(slot, out)
	}
	s.head = nil // the memory may go away before the next packet
}

// decided takes the long way with a packet. It returns the slot of the
// aggregate that the packet is to be attached to, 0 when it is held or passed.
func (t *Table) decided(i uint32, p *packet.Packet, out *packet.Batch) (uint16, bool) {
	s := &t.seg
	t.parse(p, s)
	v, slot, ended := t.decide(s)
	for _, k := range t.done {
		t.complete(k, out)
	}
	if v.Action == Merged {
		return slot, ended
	}
	s.note(p, t.known)
	if v.Action == Passed {
		t.give(i, out)
		return 0, false
	}
	if k := t.oldest(t.hash); k != 0 {
		t.stats.Evicted++
		t.complete(k, out)
	}
	e := &t.slots[t.hold(s)]
	e.own(i, p)
	if n := uint32(s.info.Payload); n > p.Linear {
		t.pull(p, n)
	}
	return 0, false
}

// own makes packet i the first and last of the aggregate.
func (e *held) own(i uint32, p *packet.Packet) {
	e.owner, e.tail, e.truesize, e.frags = i, i, p.Truesize, p.Shared()
}

// describe tells the engine about the packet.
func (t *Table) describe(p *packet.Packet, s *segment) {
	s.head, s.length = p.Bytes(), int(p.Len)
	s.apart = apart(p)
	s.known, s.verified, s.complete, s.tail = t.known, 0, false, 0
	s.size, s.segs, s.refused = 0, 1, ReasonNone
	switch p.CSumKind {
	case packet.CSumValid:
		s.known = max(s.known, p.Level+1)
	case packet.CSumPartial:
		s.known = allKnown // it never was on a wire
	case packet.CSumComplete:
		s.complete, s.sum = true, p.CSum
	}
	if p.Flags&packet.FlagFlush != 0 {
		s.refused = ReasonForbidden
	}
	if p.Len != p.Linear || p.Flags&packet.FlagLRO != 0 {
		t.describeParts(p, s)
	}
}

// apart is what of the packet no header byte says.
func apart(p *packet.Packet) uint64 {
	return uint64(p.TagType)<<16 | uint64(p.TagTCI) | uint64(p.Link)<<apartLink
}

// describeParts tells about what is not in the head, and about packets that
// are merged already: those of TCP may be merged again.
func (t *Table) describeParts(p *packet.Packet, s *segment) {
	sh := p.Shared()
	if s.known == 0 && !s.complete {
		s.tail = sumFrags(sh, 0)
	}
	g := &sh.GSO
	if g.Size != 0 {
		s.size, s.segs = uint32(g.Size), max(1, uint32(g.Segs))
	}
	if sh.Chain != 0 || g.Size != 0 && g.Type != packet.GSOTCPv4 && g.Type != packet.GSOTCPv6 {
		s.refused = ReasonGSO
	}
}

// parse finds the headers, also those that lie in the first fragment.
func (t *Table) parse(p *packet.Packet, s *segment) {
	header.Parse(p.Link, s.head, &t.options, &s.info)
	s.fixed = 0
	if p.Len == p.Linear {
		return
	}
	sh := p.Shared()
	if t.needsMore(p, sh, &s.info) {
		n := copy(t.scratch[:], s.head)
		skip := copy(t.scratch[n:], sh.Frags[0].Bytes())
		s.head = t.scratch[:n+skip]
		header.Parse(p.Link, s.head, &t.options, &s.info)
		if s.known == 0 && !s.complete {
			s.tail = sumFrags(sh, uint32(skip))
		}
	}
	if s.size != 0 {
		s.fixed = fixedLayers(sh.GSO.Flags, s.info.Encap)
	}
}

// fixedLayers is the reverse of held.gsoFlags.
func fixedLayers(flags packet.GSOFlags, encap header.Encap) (fixed uint8) {
	if flags&packet.GSOFixedIDInner != 0 {
		fixed = 1 << inner
	}
	if flags&packet.GSOFixedID != 0 {
		if encap == header.EncapNone {
			return 1 << inner
		}
		fixed |= 1 << outer
	}
	return fixed
}

// give counts a packet out.
func (t *Table) give(i uint32, out *packet.Batch) {
	if check.On {
		check.That(out.Room() > 0, "out has no room: Receive needs in.Len() + Held()")
	}
	t.stats.Out++
	out.Add(i)
}

// note records in the packet which checksums were found good.
func (s *segment) note(p *packet.Packet, known uint8) {
	switch n := s.good(known); {
	case p.CSumKind == packet.CSumNone && n > 0:
		p.CSumKind, p.Level = packet.CSumValid, n-1
	case p.CSumKind == packet.CSumValid:
		p.Level += s.verified
	}
}

// complete takes a held packet out of the table and gives it on.
func (t *Table) complete(slot uint16, out *packet.Batch) {
	e := &t.slots[slot]
	if e.merged() {
		t.stats.Aggregates++
		p := t.slab.At(e.owner)
		p.Len, p.Truesize = uint32(e.length()), e.truesize
		p.CSumKind, p.Level = packet.CSumPartial, 0
		p.Net, p.L4, p.Payload = e.info.Net, e.info.L4, e.info.Payload
		e.finish(p.Bytes(), &p.Shared().GSO)
	}
	t.give(e.owner, out)
	t.remove(slot)
}
