package gro

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// attach adds the payload of packet i to the aggregate, without a copy, in the
// way its memory allows (facts/gro.md A.9):
//
//	head is a page slice     it becomes a fragment, its fragments follow
//	small head of headers    its fragments move over, the head is freed
//	any other, or too many   the packet is chained, and later ones go to it
//
// A head page with headers alone in it would have to go back to its pool, which
// is not gro's: such a packet is chained too.
func (t *Table) attach(e *held, i uint32, p *packet.Packet) {
	skip, overhead := uint32(e.bytes), uint32(packet.RecordBytes)
	switch {
	case p.HeadKind == packet.HeadPage && p.Linear > skip && movePage(e.frags, p, skip):
		p.HeadKind = packet.HeadNone // the fragment has the reference
	case p.HeadKind == packet.HeadSmall && p.Linear <= skip && moveFrags(e.frags, p, skip):
		overhead = packet.SmallTruesize
	default:
		t.chain(e, i, p)
		return
	}
	delta := p.Truesize - overhead
	e.truesize += delta
	if e.tail != e.owner {
		tail := t.slab.At(e.tail)
		tail.Len += p.Len - skip
		tail.Truesize += delta
	}
	t.slab.Free(i)
}

// movePage makes the linear payload of p a fragment of to, followed by the
// fragments of p. It reports false when they do not fit.
func movePage(to *packet.SharedInfo, p *packet.Packet, skip uint32) bool {
	n := to.NumFrags
	if n >= packet.MaxFrags || p.Len != p.Linear && !appendFrags(to, p.Shared(), n+1, 0) {
		return false
	}
	f := &to.Frags[n]
	f.Ref, f.Off, f.Len = p.Head, p.Start+p.Data+skip, p.Linear-skip
	to.NumFrags++
	return true
}

// moveFrags moves the fragments of p to to, less the headers in the first.
func moveFrags(to *packet.SharedInfo, p *packet.Packet, skip uint32) bool {
	return appendFrags(to, p.Shared(), to.NumFrags, skip-p.Linear)
}

// appendFrags puts the fragments of from into to, at place at, the first
// shortened by cut bytes.
func appendFrags(to, from *packet.SharedInfo, at, cut uint32) bool {
	n := from.NumFrags
	if n == 0 || n > packet.MaxFrags || at+n > packet.MaxFrags || cut >= from.Frags[0].Len {
		return false
	}
	copy(to.Frags[at:], from.Frags[:n])
	to.Frags[at].Off += cut
	to.Frags[at].Len -= cut
	to.NumFrags += n
	return true
}

// chain hangs packet i, its headers cut off, behind the last of the aggregate.
func (t *Table) chain(e *held, i uint32, p *packet.Packet) {
	t.stats.ByChain++
	trim(p, uint32(e.bytes))
	p.Next = 0
	sh := t.slab.At(e.owner).Shared()
	if sh.Chain == 0 {
		sh.Chain = i
	} else {
		t.slab.At(sh.Last).Next = i
	}
	sh.Last, e.tail, e.frags = i, i, p.Shared()
	e.truesize += p.Truesize
}

// trim cuts the first n bytes off a packet; those not in its head are the
// first of its first fragment.
func trim(p *packet.Packet, n uint32) {
	linear := min(n, p.Linear)
	p.Data += linear
	p.Linear -= linear
	p.Len -= n
	if cut := n - linear; cut > 0 {
		f := &p.Shared().Frags[0]
		f.Off += cut
		f.Len -= cut
	}
}

// needsMore tells whether headers lie in the first fragment: those of a tunnel,
// which header.Length does not look into. The fragment must hold all of them
// and a byte more, and the head must have room for them.
func (t *Table) needsMore(p *packet.Packet, sh *packet.SharedInfo, i *header.Info) bool {
	if sh.NumFrags == 0 || i.Version == 0 || p.Linear >= maxHeader || p.Data+maxHeader > p.Room ||
		sh.NumFrags > 1 && sh.Frags[0].Len < maxHeader-p.Linear {
		return false
	}
	return i.Payload == 0 || i.Proto == header.ProtoUDP && i.Encap == header.EncapNone &&
		len(t.options.VXLAN) > 0
}

// pull copies the headers, n bytes of which scratch has all, into the head of a
// packet that is held, so that they can be rewritten.
func (t *Table) pull(p *packet.Packet, n uint32) {
	cut := n - p.Linear
	copy(p.Head.Bytes(p.Start+p.Data+p.Linear, cut), t.scratch[p.Linear:n])
	p.Linear = n
	f := &p.Shared().Frags[0]
	f.Off += cut
	f.Len -= cut
}
