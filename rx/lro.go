package rx

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// merge makes the headers of a packet that the device merged from segs segments
// those of a large one, and says how it is cut again (facts/mlx5e.md 4.6). False: the
// headers are not TCP, which contradicts the completion.
func merge(p *packet.Packet, c *desc.CQE, segs uint32) bool {
	var info header.Info
	b := p.Bytes()
	header.Parse(linkOf(c), b, nil, &info)
	if info.Proto != header.ProtoTCP || info.Payload == 0 || uint32(info.Payload) >= p.Len ||
		info.Encap != header.EncapNone || info.Flags&header.FlagFragment != 0 {
		return false
	}
	net, l4, tcpLen := int(info.Net), int(info.L4), int(p.Len)-int(info.L4)
	gso := &p.Shared().GSO
	var pseudo uint16
	if info.Version == 4 {
		gso.Type = packet.GSOTCPv4
		h := header.IPv4At(b, net)
		h.SetTTL(c.LROMinTTL())
		h.SetTotalLen(uint16(p.Len) - info.Net)
		h.SetChecksum(0)
		h.SetChecksum(^checksum.Sum(b[net : net+h.HeaderLen()]))
		pseudo = checksum.Pseudo4(h.Src()[:], h.Dst()[:], header.ProtoTCP, tcpLen)
	} else {
		gso.Type = packet.GSOTCPv6
		h := header.IPv6At(b, net)
		h.SetHopLimit(c.LROMinTTL())
		h.SetPayloadLen(uint16(p.Len) - info.Net - header.IPv6Bytes)
		pseudo = checksum.Pseudo6(h.Src()[:], h.Dst()[:], header.ProtoTCP, tcpLen)
	}
	rewriteTCP(b[l4:info.Payload], c, pseudo)
	payload := p.Len - uint32(info.Payload)
	gso.Size, gso.Segs = uint16((payload+segs-1)/segs), uint16(segs)
	gso.HdrLen, gso.CSumStart, gso.CSumOffset = info.Payload, info.L4, tcpChecksumOffset
	return true
}

// merged counts a packet that the device merged.
func (q *Queue) merged(p *packet.Packet, segs uint32) {
	p.Flags |= packet.FlagLRO
	q.count.lroSegs += uint64(segs) - 1
	q.count.lroPackets++
	q.count.lroBytes += uint64(p.Len)
}

const tcpChecksumOffset = 16

// rewriteTCP gives the header what the last segment had. The completion's sum
// is that of the payload, so the checksum holds for all of it.
func rewriteTCP(b []byte, c *desc.CQE, pseudo uint16) {
	h := header.TCPAt(b, 0)
	flags := h.Flags() &^ header.TCPPsh
	if c.LROPush() {
		flags |= header.TCPPsh
	}
	if t := c.HdrType().L4(); t == desc.HdrTCPAck || t == desc.HdrTCPAckData {
		flags |= header.TCPAck
		h.SetAck(c.LROAck())
		h.SetWindow(c.LROWindow())
	}
	h.SetFlags(flags)
	h.SetChecksum(0)
	sum := checksum.Combine(checksum.Sum(b), c.CheckSum(), false)
	h.SetChecksum(^checksum.Combine(sum, pseudo, false))
}
