package gro

import (
	"encoding/binary"
	"slices"

	"github.com/millrace-net/millrace/header"
)

// inspect looks at the packet alone, in Linux's order (facts/gro.md A.3 to
// A.7), and says why it is not one to be merged; ReasonNone: it is.
func (g *engine) inspect(s *segment) Reason {
	i := &s.info
	if i.Version == 0 {
		return ReasonNotIP
	}
	if s.refused != ReasonNone {
		return s.refused
	}
	if i.Encap != header.EncapNone {
		if r := s.outside(); r != ReasonNone {
			return r
		}
	}
	if r := s.network(int(i.Net), i.Version); r != ReasonNone {
		return r
	}
	switch i.Proto {
	case header.ProtoTCP:
		return s.tcp()
	case header.ProtoUDP:
		return g.udp(s)
	}
	return ReasonProtocol
}

// network checks the IP header at off.
func (s *segment) network(off int, version uint8) Reason {
	if version == 6 {
		return s.network6(off)
	}
	h := header.IPv4At(s.head, off)
	switch {
	case h[0] != 0x45:
		return ReasonIPOptions
	case h.IsFragment():
		return ReasonFragment
	case !goodIPv4Sum(h):
		return ReasonIPChecksum
	case h.Fragment()&header.IPv4Evil != 0:
		return ReasonIPReserved
	case int(h.TotalLen()) != s.length-off:
		return ReasonIPLength
	}
	return ReasonNone
}

func (s *segment) network6(off int) Reason {
	switch {
	case s.info.Flags&header.FlagFragment != 0 && hasFragmentHeader(s.head, off):
		return ReasonFragment
	case int(header.IPv6At(s.head, off).PayloadLen()) != s.length-off-header.IPv6Bytes:
		return ReasonIPLength
	}
	return ReasonNone
}

// hasFragmentHeader looks for a fragment header behind the IPv6 header at off.
// Parse has walked the extension headers.
func hasFragmentHeader(b []byte, off int) bool {
	next := header.IPv6At(b, off).NextHeader()
	for off += header.IPv6Bytes; off+header.IPv6FragmentBytes <= len(b); {
		switch next {
		case header.ProtoFragment:
			return true
		case header.ProtoHopByHop, header.ProtoRouting, header.ProtoDestOpts:
			h := header.IPv6ExtAt(b, off)
			next, off = h.NextHeader(), off+h.HeaderLen()
		default:
			return false
		}
	}
	return false
}

// goodIPv4Sum verifies a header of 20 bytes. The order of the bytes in a word
// does not matter to whether the sum is all ones (RFC 1071).
func goodIPv4Sum(h *header.IPv4) bool {
	x, y := binary.LittleEndian.Uint64(h[0:]), binary.LittleEndian.Uint64(h[8:])
	sum := x&0xffffffff + x>>32 + y&0xffffffff + y>>32 +
		uint64(binary.LittleEndian.Uint32(h[16:]))
	sum = sum&0xffffffff + sum>>32
	sum = sum&0xffff + sum>>16
	sum = sum&0xffff + sum>>16
	return sum == 0xffff
}

// outside checks the outer IP header and the tunnel header.
func (s *segment) outside() Reason {
	off, at := int(s.info.Outer), int(s.info.Tunnel)
	if r := s.network(off, s.head[off]>>4); r != ReasonNone {
		return r
	}
	switch s.info.Encap {
	case header.EncapGRE, header.EncapTEB:
		flags := header.GREAt(s.head, at).Flags()
		if flags&^(header.GREKey|header.GREChecksum) != 0 {
			return ReasonTunnel
		}
		if flags&header.GREChecksum != 0 && !s.verify(at, 0, header.ProtoGRE) {
			return ReasonChecksum
		}
	case header.EncapVXLAN:
		if !s.verifyUDP(at, off) {
			return ReasonChecksum
		}
		if header.UDPAt(s.head, at).Checksum() != 0 {
			s.apart |= apartSum
		}
	}
	return ReasonNone
}

func (s *segment) tcp() Reason {
	l4 := int(s.info.L4)
	switch {
	case l4 == 0:
		return ReasonHeaderShort
	case !s.verify(l4, int(s.info.Net), header.ProtoTCP):
		return ReasonChecksum
	case s.info.Payload == 0:
		return ReasonHeaderShort
	}
	h := header.TCPAt(s.head, l4)
	s.seq, s.tcpFlags = h.Seq(), uint8(h.Flags())
	s.payload = uint32(s.length - int(s.info.Payload))
	return s.mergeable()
}

func (g *engine) udp(s *segment) Reason {
	l4 := int(s.info.L4)
	if s.info.Payload == 0 {
		return ReasonHeaderShort
	}
	if g.udpPasses && (s.complete || s.known > 0) {
		return ReasonUDPOff
	}
	if !s.verifyUDP(l4, int(s.info.Net)) {
		return ReasonChecksum
	}
	h := header.UDPAt(s.head, l4)
	s.payload, s.tcpFlags = uint32(s.length-int(s.info.Payload)), 0
	switch {
	case slices.Contains(g.options.VXLAN, h.DstPort()):
		return ReasonTunnelPort
	case !g.udpOn:
		return ReasonUDPOff
	case h.Checksum() == 0:
		return ReasonUDPZero
	case int(h.Length()) != s.length-l4:
		return ReasonUDPLength
	case s.payload == 0:
		return ReasonEmpty
	case s.size != 0:
		return ReasonGSO
	}
	return s.mergeable()
}

// mergeable checks what the engine itself demands.
func (s *segment) mergeable() Reason {
	if s.info.Payload >= maxHeader {
		return ReasonHeaderLong
	}
	return ReasonNone
}
