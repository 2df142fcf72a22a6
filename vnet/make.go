package vnet

import (
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/packet"
)

// For is the header of what came out of a gro.Merger. The frame behind it is
// the aggregate's Header, then its Payload.
func For(a *gro.Aggregate) Header { return describe(a.GSO(), a.CSum()) }

// From is the header of a packet. The frame behind it is as gso.Pieces lists
// it; a VLAN tag that the device stripped must be put back first.
func From(p *packet.Packet) Header {
	var g packet.GSO
	// A packet that is all in its head, and nothing more, has no SharedInfo.
	if p.Len != p.Linear || p.CSumKind == packet.CSumPartial || p.Flags&packet.FlagLRO != 0 {
		g = p.Shared().GSO
	}
	return describe(g, p.CSumKind)
}

var types = [...]uint8{
	packet.GSONone:  GSONone,
	packet.GSOTCPv4: GSOTCPv4,
	packet.GSOTCPv6: GSOTCPv6,
	packet.GSOUDP:   GSOUDP,
}

// describe follows virtio_net_hdr_from_skb, but hdr_len is what it says.
func describe(g packet.GSO, csum packet.CSum) (h Header) {
	switch csum {
	case packet.CSumPartial:
		h.SetFlags(NeedsCSum)
		h.SetCSumStart(g.CSumStart)
		h.SetCSumOffset(g.CSumOffset)
	case packet.CSumValid:
		h.SetFlags(DataValid)
	}
	if g.Type == packet.GSONone {
		return h
	}
	h.SetGSOType(types[g.Type])
	if g.Flags&packet.GSOECN != 0 && g.Type != packet.GSOUDP {
		h.SetGSOType(types[g.Type] | GSOECN)
	}
	h.SetGSOSize(g.Size)
	h.SetHdrLen(g.HdrLen)
	return h
}
