package header

import "encoding/binary"

// transport passes a header of IP protocol p.proto that is not the transport
// header itself. UDP is never passed: what tunnels through it is payload.
func (p place) transport(b []byte) (place, step) {
	switch p.proto {
	case ProtoIPv4:
		p.typ = TypeIPv4
		return p, stepType
	case ProtoIPv6:
		p.typ = TypeIPv6
		return p, stepType
	case ProtoMPLS:
		p.typ = TypeMPLS
		return p, stepType
	case ProtoGRE:
		return p.gre(b)
	case ProtoHopByHop, ProtoRouting, ProtoDestOpts:
		return p.extension(b)
	case ProtoFragment:
		return p.fragmentHeader(b)
	}
	return p, stepGood
}

// extension passes an IPv6 options or routing header. Its end may lie behind
// the frame. In IPv4 the same numbers are payload.
func (p place) extension(b []byte) (place, step) {
	if p.typ != TypeIPv6 {
		return p, stepGood
	}
	if !p.has(b, 2) {
		return p, stepBad
	}
	p.proto = b[p.off]
	p.off += (int(b[p.off+1]) + 1) * 8
	return p, stepProto
}

func (p place) fragmentHeader(b []byte) (place, step) {
	if p.typ != TypeIPv6 {
		return p, stepGood
	}
	if !p.has(b, IPv6FragmentBytes) {
		return p, stepBad
	}
	h := IPv6FragmentAt(b, p.off)
	p.proto = h.NextHeader()
	p.off += IPv6FragmentBytes
	return p.fragmented(h.Offset())
}

// gre passes a GRE header of version 0, or of version 1 if it is PPTP. What it
// does not know ends the headers in front of ip.
func (p place) gre(b []byte) (place, step) {
	if !p.has(b, GREBytes) {
		return p, stepBad
	}
	h := GREAt(b, p.off)
	switch flags := h.Flags(); {
	case flags&GRERouting != 0 || h.Version() > 1:
		return p, stepGood
	case h.Version() == 1 && (h.Proto() != TypePPP || flags&GREKey == 0):
		return p, stepGood
	case flags&GREKey != 0 && !p.has(b, h.KeyOffset()+4):
		return p, stepBad // the only optional field that must be there
	}
	p.typ = h.Proto()
	n := h.HeaderLen()
	switch {
	case h.Version() == 1:
		return p.ppp(b, n)
	case p.typ == TypeTEB:
		if !p.has(b, n+EthernetBytes) {
			return p, stepBad
		}
		n += EthernetBytes
		p.typ = EthernetAt(b, p.off+n-EthernetBytes).Type()
	}
	p.off += n
	return p, stepType
}

// ppp passes n bytes of GRE and the PPP header behind them: address, control
// and protocol. The EtherType of PPP stays for a protocol that is not known,
// and ends the walk there.
func (p place) ppp(b []byte, n int) (place, step) {
	const pppBytes = 4
	if !p.has(b, n+pppBytes) {
		return p, stepBad
	}
	p.off += n + pppBytes
	switch binary.BigEndian.Uint16(b[p.off-2:]) {
	case PPPIPv4:
		p.typ = TypeIPv4
	case PPPIPv6:
		p.typ = TypeIPv6
	}
	return p, stepType
}
