package gro

import (
	"slices"

	"github.com/millrace-net/millrace/header"
)

// An engine decides what becomes of packets, by their header bytes and lengths
// alone. A front end owns the packets and does for each of them:
//
//	quick:  it goes on with an aggregate; attach it
//	else parse its headers, and decide; complete what is in done; then
//	Merged: attach the packet
//	Held:   complete what room needs, then hold
//	Passed: give it on
//
// When a packet was merged, the engine also says whether that ended the
// aggregate, which is then to be completed.
//
// Budget in ns for a TCP packet that goes on with an aggregate, its checksum
// known: find 8, compare 8, the rest of the rules 8, the front end 15.
type engine struct {
	table
	hints   [numHints]hint
	options header.ParseOptions
	udpOn   bool
	// UDP is in nobody's way: it is not merged, and no port of it is a tunnel.
	// What the device says of its checksum then goes on with the packet.
	udpPasses bool
	known     uint8    // checksums known to be good without looking
	done      []uint16 // slots to be completed before the packet itself
	hash      uint64   // of the packet's flow
	maxAge    int64
	stats     Stats
}

func (g *engine) open(c Config) {
	g.table.open(c.Buckets)
	g.options.VXLAN = slices.Clone(c.VXLAN)
	g.udpOn, g.maxAge = c.UDP, c.MaxAge
	g.udpPasses = !c.UDP && len(c.VXLAN) == 0
	if c.Verified {
		g.known = allKnown
	}
}

// decide gives the verdict on a packet that was parsed. slot is the aggregate it
// was merged into.
func (g *engine) decide(s *segment) (v Verdict, slot uint16, ended bool) {
	g.done = g.done[:0]
	v, slot = g.judge(s)
	if v.Action == Merged {
		return v, slot, g.slots[slot].add(s.payload, s.segs, s.tcpFlags)
	}
	g.stats.Reasons[v.Reason]++
	return v, 0, false
}

func (g *engine) judge(s *segment) (Verdict, uint16) {
	refusal := g.inspect(s)
	if !g.mayHold(&s.info) {
		return Verdict{Passed, refusal}, 0
	}
	hash, ok := s.hash()
	if !ok {
		g.completeAddresses(s)
		return Verdict{Passed, refusal}, 0
	}
	g.hash = hash
	slot := g.find(s, hash)
	if refusal != ReasonNone {
		g.overtaken(slot, leftAlone(refusal, s.info.Proto))
		return Verdict{Passed, refusal}, 0
	}
	if slot == 0 {
		return s.alone(ReasonFirst), 0
	}
	e := &g.slots[slot]
	if r := e.refuses(s); r != ReasonNone {
		g.overtaken(slot, otherFlow(r) || r == ReasonEmpty && e.apartFrom(s))
		return s.alone(r), 0
	}
	return Verdict{Merged, ReasonNone}, slot
}

// mayHold tells whether packets of this kind can be held at all.
func (g *engine) mayHold(i *header.Info) bool {
	return i.Version != 0 &&
		(i.Proto == header.ProtoTCP || i.Proto == header.ProtoUDP && g.udpOn)
}

// overtaken completes the held packet of a flow that another packet of it
// would overtake. In Linux some do: that is the one deliberate difference
// (docs/gro.md). In those cases linux is true.
func (g *engine) overtaken(slot uint16, linux bool) {
	if slot == 0 {
		return
	}
	g.done = append(g.done, slot)
	if linux {
		g.stats.Ordered++
	}
}

// leftAlone tells that Linux passes a packet with this refusal without looking
// for a held one. Others meet it in TCP, and complete it there.
func leftAlone(r Reason, proto uint8) bool {
	switch r {
	case ReasonIPLength, ReasonIPReserved, ReasonForbidden, ReasonGSO:
		return proto != header.ProtoTCP
	}
	return true
}

// otherFlow tells that for Linux packets with this difference are of two flows.
func otherFlow(r Reason) bool {
	switch r {
	case ReasonLink, ReasonTunnelDiffers, ReasonFlowLabel, ReasonExtensions:
		return true
	}
	return false
}

// completeAddresses is overtaken for a packet whose ports are not known: any
// held packet of its addresses and protocol may be of its flow.
func (g *engine) completeAddresses(s *segment) {
	for i := g.slots[0].next; i != 0; i = g.slots[i].next {
		if g.slots[i].hasAddresses(s) {
			g.done = append(g.done, i)
			g.stats.Ordered++
		}
	}
}

// alone is the verdict on a packet that is not merged: held, unless it ends an
// aggregate by itself. r says why it was not merged.
func (s *segment) alone(r Reason) Verdict {
	why := ReasonNone
	switch {
	case s.info.Proto == header.ProtoUDP:
	case s.tcpFlags&endFlags != 0:
		why = ReasonFlags
	case s.payload == 0:
		why = ReasonEmpty
	case s.size != 0 && s.payload != s.size*s.segs:
		why = ReasonGSO
	}
	if why == ReasonNone {
		return Verdict{Held, r}
	}
	if r == ReasonFirst {
		r = why
	}
	return Verdict{Passed, r}
}

// endFlags end an aggregate; all but FIN and PSH never are in one.
const endFlags = header.TCPFin | header.TCPSyn | header.TCPRst | header.TCPPsh | header.TCPUrg
