package header

// Bytes of headers that are only passed over.
const (
	fcoeBytes     = 38 // header, and CRC and end of frame
	ptpBytes      = 34
	hsrBytes      = 6 // path and size, sequence, EtherType
	tipcBytes     = 16
	batmanBytes   = 24 // unicast header with the Ethernet header inside
	batmanVersion = 15
	batmanUnicast = 0x40
)

// network passes the header of EtherType p.typ.
func (p place) network(b []byte) (place, step) {
	switch p.typ {
	case TypeIPv4:
		return p.ipv4(b)
	case TypeIPv6:
		return p.ipv6(b)
	case TypeVLAN, TypeQinQ:
		return p.tag(b, VLANBytes)
	case TypePRP, TypeHSR:
		return p.tag(b, hsrBytes)
	case TypePPPoE:
		return p.pppoe(b)
	case TypeMPLS, TypeMPLSMany:
		p.off += MPLSBytes // one label, there or not, whatever follows
		return p, stepGood
	case TypeARP, TypeRARP, TypeCFM:
		return p, stepGood
	case TypeTIPC:
		return p.last(b, tipcBytes, 0)
	case TypePTP:
		return p.last(b, ptpBytes, ptpBytes)
	case TypeFCoE:
		return p.last(b, fcoeBytes, fcoeBytes)
	case TypeBatman:
		return p.batman(b)
	}
	return p, stepBad
}

// last ends the headers n bytes on, if need bytes are there.
func (p place) last(b []byte, need, n int) (place, step) {
	if !p.has(b, need) {
		return p, stepBad
	}
	p.off += n
	return p, stepGood
}

// tag passes n bytes, the last two of which are an EtherType.
func (p place) tag(b []byte, n int) (place, step) {
	if !p.has(b, n) {
		return p, stepBad
	}
	p.off += n
	p.typ = VLANAt(b, p.off-VLANBytes).Type()
	return p, stepType
}

// ipv4 passes the options unseen: they may lie behind the frame. Neither the
// version nor a length field is looked at.
func (p place) ipv4(b []byte) (place, step) {
	if !p.has(b, IPv4Bytes) {
		return p, stepBad
	}
	h := IPv4At(b, p.off)
	if h.HeaderLen() < IPv4Bytes {
		return p, stepBad
	}
	p.off += h.HeaderLen()
	p.proto = h.Proto()
	if h.IsFragment() {
		return p.fragmented(h.FragmentOffset())
	}
	return p, stepProto
}

func (p place) ipv6(b []byte) (place, step) {
	if !p.has(b, IPv6Bytes) {
		return p, stepBad
	}
	p.proto = IPv6At(b, p.off).NextHeader()
	p.off += IPv6Bytes
	return p, stepProto
}

// fragmented ends the headers in a fragment at an offset of its datagram. What
// p.proto says is there in the first one only.
func (p place) fragmented(offset int) (place, step) {
	p.later = offset != 0
	return p, stepGood
}

// pppoe passes a session header. A compressed PPP protocol field, whose first
// byte is odd, is not accepted.
func (p place) pppoe(b []byte) (place, step) {
	if !p.has(b, PPPoEBytes) {
		return p, stepBad
	}
	h := PPPoEAt(b, p.off)
	if !h.Valid() {
		return p, stepBad
	}
	p.off += PPPoEBytes
	switch proto := h.Proto(); {
	case proto == PPPIPv4:
		p.typ = TypeIPv4
	case proto == PPPIPv6:
		p.typ = TypeIPv6
	case proto == PPPMPLS:
		p.typ = TypeMPLS
	case proto == PPPMPLSMany:
		p.typ = TypeMPLSMany
	case proto&0x0101 == 0x0001: // any other valid number
		return p, stepGood
	default:
		return p, stepBad
	}
	return p, stepType
}

func (p place) batman(b []byte) (place, step) {
	if !p.has(b, batmanBytes) || b[p.off] != batmanUnicast || b[p.off+1] != batmanVersion {
		return p, stepBad
	}
	return p.tag(b, batmanBytes)
}
