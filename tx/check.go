package tx

import (
	"fmt"

	"github.com/millrace-net/millrace/packet"
)

// Check says why Post would refuse the packet, with the limit, or nil.
func (q *Queue) Check(s *packet.Slab, p *packet.Packet) error {
	defer func(from *source, c cutter) { q.from, q.cutter = from, c }(q.from, q.cutter)
	q.from, q.cutter = &source{slab: s}, cutter{} // a packet may be on its way through the other
	t := task{p: p}
	reason := q.examine(&t)
	if reason == packet.DropNone && t.soft {
		reason = q.lay(&t)
	}
	if reason == packet.DropNone {
		return nil
	}
	if q.cutter.fault != nil {
		return fmt.Errorf("tx: %v: %w", reason, q.cutter.fault)
	}
	return fmt.Errorf("tx: %v: %s", reason, q.limitOf(&t, reason))
}

// limitOf is what the packet has and what the limit is.
func (q *Queue) limitOf(t *task, reason packet.Drop) string {
	p := t.p
	switch reason {
	case packet.DropBadLink:
		return fmt.Sprintf("link type %d, want Ethernet", p.Link)
	case packet.DropTooShort:
		return fmt.Sprintf("%d bytes, want at least %d", p.Len, minFrame)
	case packet.DropTooLong:
		return fmt.Sprintf("%d bytes, the MTU of %d allows %d", p.Len, q.cfg.MTU, q.limits.frame)
	case packet.DropBadFrags:
		return fmt.Sprintf("%d fragments, want at most %d, none empty, "+
			"and with the linear part %d bytes", p.Shared().NumFrags, packet.MaxFrags, p.Len)
	case packet.DropBadCSum:
		g := &p.Shared().GSO
		return fmt.Sprintf("it starts at %d and is stored %d on, the packet has %d bytes",
			g.CSumStart, g.CSumOffset, p.Len)
	case packet.DropBadGSO:
		g := t.gso
		return fmt.Sprintf("type %d, %d bytes of headers and %d of payload a segment, "+
			"the linear part has %d, the MTU of %d allows segments of %d bytes",
			g.Type, g.HdrLen, g.Size, p.Linear, q.cfg.MTU, q.limits.frame)
	}
	return "marked by its handler"
}
