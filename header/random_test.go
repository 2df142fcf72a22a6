package header

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// A source makes random frames whose headers mostly follow from each other.
type source struct {
	*rand.Rand
	b []byte
}

var (
	someTypes = []uint16{
		TypeIPv4, TypeIPv4, TypeIPv4, TypeIPv6, TypeIPv6, TypeIPv6, TypeVLAN, TypeQinQ, TypePPPoE,
		TypeMPLS, TypeMPLSMany, TypeARP, TypeRARP, TypeTIPC, TypePTP, TypePRP, TypeHSR, TypeCFM,
		TypeFCoE, TypeBatman, TypeTEB, TypePPP, 0x88be, 0x9000, 46,
	}
	someProtos = []uint8{
		ProtoTCP, ProtoTCP, ProtoTCP, ProtoUDP, ProtoICMP, ProtoIGMP, ProtoIPv4, ProtoIPv6,
		ProtoDCCP, ProtoHopByHop, ProtoRouting, ProtoFragment, ProtoDestOpts, ProtoDestOpts,
		ProtoGRE, ProtoGRE, ProtoESP, ProtoAH, ProtoICMPv6, ProtoNoNext, ProtoSCTP,
		ProtoUDPLite, ProtoMPLS, 115, 255,
	}
)

func pick[T any](s *source, from []T) T { return from[s.IntN(len(from))] }

func (s *source) oneIn(n int) bool { return s.IntN(n) == 0 }

// add appends n random bytes and lends them.
func (s *source) add(n int) []byte {
	at := len(s.b)
	for range n {
		s.b = append(s.b, byte(s.Uint32()))
	}
	return s.b[at:]
}

// frame makes an Ethernet frame, half of the time cut, sometimes with random
// bytes changed.
func (s *source) frame() []byte {
	s.b = s.b[:0]
	s.ethernet(0)
	s.add(s.IntN(60))
	if s.oneIn(3) {
		for range 1 + s.IntN(3) {
			s.b[12+s.IntN(len(s.b)-12)] = byte(s.Uint32())
		}
	}
	if s.oneIn(2) {
		s.b = s.b[:14+s.IntN(len(s.b)-13)]
	}
	return slices.Clone(s.b)
}

func (s *source) ethernet(depth int) {
	typ := pick(s, someTypes)
	binary.BigEndian.PutUint16(s.add(14)[12:], typ)
	s.typed(typ, depth+1)
}

// typed adds the header of an EtherType and what it leads to.
func (s *source) typed(typ uint16, depth int) {
	if depth > 24 {
		return
	}
	next := pick(s, someTypes)
	switch typ {
	case TypeIPv4:
		s.ipv4(depth)
	case TypeIPv6:
		h := s.add(40)
		h[6] = pick(s, someProtos)
		s.proto(h[6], depth+1)
	case TypeVLAN, TypeQinQ:
		binary.BigEndian.PutUint16(s.add(4)[2:], next)
		s.typed(next, depth+1)
	case TypePRP, TypeHSR:
		binary.BigEndian.PutUint16(s.add(6)[4:], next)
		s.typed(next, depth+1)
	case TypePPPoE:
		copy(s.add(6), []byte{0x11, 0})
		s.ppp(depth)
	case TypeBatman:
		copy(s.add(10), []byte{0x40, 15})
		s.ethernet(depth)
	}
}

func (s *source) ipv4(depth int) {
	words := 5
	if s.oneIn(4) {
		words = 4 + s.IntN(12)
	}
	h := s.add(max(words, 5) * 4)
	h[0] = 0x40 | byte(words)
	fragment := pick(s, []uint16{0, IPv4DF, IPv4DF, IPv4MF, IPv4Evil, 0x0010})
	binary.BigEndian.PutUint16(h[6:], fragment)
	h[9] = pick(s, someProtos)
	s.proto(h[9], depth+1)
}

// ppp adds a PPP protocol field and what it leads to.
func (s *source) ppp(depth int) {
	proto := pick(s, []uint16{
		PPPIPv4, PPPIPv4, PPPIPv6, PPPMPLS, PPPMPLSMany, 0xc021, 0x2145, 0x22,
	})
	binary.BigEndian.PutUint16(s.add(2), proto)
	switch proto {
	case PPPIPv4:
		s.typed(TypeIPv4, depth+1)
	case PPPIPv6:
		s.typed(TypeIPv6, depth+1)
	}
}

// proto adds the header of an IP protocol and what it leads to.
func (s *source) proto(proto uint8, depth int) {
	if depth > 24 {
		return
	}
	switch proto {
	case ProtoTCP:
		s.add(20)[12] = byte(s.IntN(16)) << 4
	case ProtoIPv4:
		s.typed(TypeIPv4, depth)
	case ProtoIPv6:
		s.typed(TypeIPv6, depth)
	case ProtoHopByHop, ProtoRouting, ProtoDestOpts:
		h := s.add(8)
		h[0], h[1] = pick(s, someProtos), byte(s.IntN(3))
		next := h[0]
		s.add(int(h[1]) * 8)
		s.proto(next, depth+1)
	case ProtoFragment:
		h := s.add(8)
		h[0] = pick(s, someProtos)
		binary.BigEndian.PutUint16(h[2:], pick(s, []uint16{0, 1, 8, 0x05c9}))
		s.proto(h[0], depth+1)
	case ProtoGRE:
		s.gre(depth)
	}
}

func (s *source) gre(depth int) {
	flags := uint16(s.IntN(16)) << 12
	if !s.oneIn(8) {
		flags &^= GRERouting
	}
	typ := pick(s, []uint16{TypeIPv4, TypeIPv6, TypeTEB, TypeTEB, TypeVLAN, TypeARP, 0x88be})
	if s.oneIn(4) {
		flags, typ = flags|GREKey|1|uint16(s.IntN(2))*GREAck, TypePPP
	}
	h := s.add(4)
	binary.BigEndian.PutUint16(h, flags)
	binary.BigEndian.PutUint16(h[2:], typ)
	s.add((*GRE)(h).HeaderLen() - GREBytes)
	switch typ {
	case TypePPP:
		s.add(2)
		s.ppp(depth)
	case TypeTEB:
		s.ethernet(depth)
	default:
		s.typed(typ, depth+1)
	}
}
