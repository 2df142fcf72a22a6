package rx

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// Values of the ECN field (RFC 3168 section 5).
const (
	ecnMask = 3
	ecnCE   = 3
)

// congested marks a packet that met congestion in the device: its ECN field
// becomes CE unless the sender does not know ECN (facts/mlx5e.md 3.11).
func (q *Queue) congested(p *packet.Packet) {
	p.Flags |= packet.FlagECNMark
	if p.Link != header.LinkEthernet {
		return
	}
	b := p.Bytes()
	typ, net := network(b)
	marked := false
	switch {
	case typ == header.TypeIPv4 && len(b) >= net+header.IPv4Bytes:
		marked = markIPv4(header.IPv4At(b, net))
	case typ == header.TypeIPv6 && len(b) >= net+header.IPv6Bytes:
		marked = markIPv6(header.IPv6At(b, net), p)
	}
	if marked {
		q.count.ecnMark++
	}
}

// markIPv4 mends the header checksum, so the sum over all bytes stays.
func markIPv4(h *header.IPv4) bool {
	tos := h.TOS()
	if tos&ecnMask == 0 {
		return false
	}
	h.SetTOS(tos | ecnCE)
	first := uint16(h[0]) << 8
	h.SetChecksum(checksum.Replace16(h.Checksum(), first|uint16(tos), first|uint16(tos|ecnCE)))
	return true
}

// markIPv6 mends the sum over all bytes: nothing in the header balances it.
func markIPv6(h *header.IPv6, p *packet.Packet) bool {
	class := h.TrafficClass()
	if class&ecnMask == 0 {
		return false
	}
	before := uint16(h[0])<<8 | uint16(h[1])
	h.SetFirst(class|ecnCE, h.FlowLabel())
	if p.CSumKind == packet.CSumComplete {
		after := uint16(h[0])<<8 | uint16(h[1])
		p.CSum = ^checksum.Replace16(^p.CSum, before, after)
	}
	return true
}
