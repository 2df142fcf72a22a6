package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// describe carries over what the completion says about the frame; p.Len and
// the linear bytes are there.
func (q *Queue) describe(p *packet.Packet, c *desc.CQE) {
	p.Next, p.Queue = 0, q.queue
	p.Link = linkOf(c)
	p.Drop, p.Flags, p.Meta = packet.DropNone, 0, 0
	p.Hash, p.HashType = c.Hash(), q.hashTypes[c.HashType()]
	p.TagType, p.TagTCI = 0, 0
	types := c.HdrType()
	if types.VLANStripped() {
		p.TagType, p.TagTCI = header.TypeVLAN, c.VLAN()
		q.count.removedVLAN++
	}
	p.Timestamp = int64(c.Timestamp()) & q.stampMask
	p.Mark = c.FlowTag()
	if q.sum && types.L4() != 0 && p.Link == header.LinkEthernet &&
		c.LROSegs() == 0 && p.Len > paddedBytes {
		p.CSumKind, p.CSum, p.Level = packet.CSumComplete, c.CheckSum(), 0
		q.count.csumComplete++
	} else if q.trusting && c.Verdict()&(desc.L3OK|desc.L4OK) == desc.L3OK|desc.L4OK &&
		!c.Tunneled() && c.LROSegs() == 0 {
		p.CSumKind, p.CSum, p.Level = packet.CSumValid, 0, 0
		q.count.csumUnnecessary++
	} else {
		q.checksum(p, c)
	}
	if c.CEMark() {
		q.congested(p)
	}
	q.count.bytes += uint64(p.Len)
}

// linkOf is the link type that the device passes on. One that does not exist
// is opaque: nothing of the frame is read as a header.
func linkOf(c *desc.CQE) header.LinkType {
	return min(header.LinkType(c.FlowMeta()), header.LinkOpaque)
}

// hashTypes are the packet's hash types by the completion's.
var hashTypes = func() (types [256]packet.HashType) {
	for t := range types {
		types[t] = hashType(desc.HashType(t))
	}
	return types
}()

func hashType(t desc.HashType) packet.HashType {
	switch {
	case t&desc.HashL4Mask != 0:
		return packet.HashL4
	case t&desc.HashIPMask != 0:
		return packet.HashL3
	}
	return packet.HashNone
}

// paddedBytes is the length up to which the device's sum may cover padding:
// ETH_ZLEN and FCS.
const paddedBytes = 60 + fcsBytes

// checksum follows facts/mlx5e.md 3.11: the sum over all bytes where it can be
// trusted to cover the packet alone, else the verdict.
func (q *Queue) checksum(p *packet.Packet, c *desc.CQE) {
	p.CSumKind, p.CSum, p.Level = packet.CSumNone, 0, 0
	switch {
	case q.verdict && c.LROSegs() != 0:
		p.CSumKind = packet.CSumValid
		q.count.csumUnnecessary++
	case q.sum && p.Len > paddedBytes && summable(p, c.HdrType()):
		p.CSumKind, p.CSum = packet.CSumComplete, c.CheckSum()
		q.count.csumComplete++
	case q.verdict && c.Verdict()&(desc.L3OK|desc.L4OK) == desc.L3OK|desc.L4OK:
		p.CSumKind = packet.CSumValid
		if c.Tunneled() {
			p.Level = 1
			q.count.csumUnnecessaryInner++
		} else {
			q.count.csumUnnecessary++
		}
	default:
		q.count.csumNone++
	}
}

// summable reports whether the packet is IP and not SCTP, whose checksum is of
// another kind. The device's sum covers what follows the Ethernet header, so
// it says nothing about other links.
func summable(p *packet.Packet, t desc.HdrType) bool {
	if p.Link != header.LinkEthernet {
		return false
	}
	if t.L4() != 0 {
		return true // TCP or UDP: the frame need not be touched
	}
	b := p.Bytes()
	typ, net := network(b)
	switch {
	case typ == header.TypeIPv4 && len(b) >= net+header.IPv4Bytes:
		return header.IPv4At(b, net).Proto() != header.ProtoSCTP
	case typ == header.TypeIPv6 && len(b) >= net+header.IPv6Bytes:
		return header.IPv6At(b, net).NextHeader() != header.ProtoSCTP
	}
	return false
}

// network is the EtherType behind all VLAN tags of an Ethernet frame, and
// where its header begins; type 0 when the frame is too short.
func network(b []byte) (typ uint16, off int) {
	off = header.EthernetBytes
	if len(b) < off {
		return 0, off
	}
	typ = header.EthernetAt(b, 0).Type()
	for typ == header.TypeVLAN || typ == header.TypeQinQ {
		if len(b) < off+header.VLANBytes {
			return 0, off
		}
		typ = header.VLANAt(b, off).Type()
		off += header.VLANBytes
	}
	return typ, off
}
