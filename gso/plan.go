package gso

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

const greSum = 4 // of the checksum in a GRE header

// plan sets up the header fields that differ between segments, each with the
// sum of the bytes around it that do not.
func (s *Segmenter) plan(info *header.Info, g *packet.GSO) {
	head, net, l4 := s.head, int(info.Net), int(info.L4)
	s.l4 = transportAt(head, net, l4, g)
	if info.Encap == header.EncapNone {
		s.inner = networkAt(head, net, g.Flags&packet.GSOFixedID != 0)
		return
	}
	s.inner = networkAt(head, net, g.Flags&packet.GSOFixedIDInner != 0)
	s.outer = networkAt(head, int(info.Outer), g.Flags&packet.GSOFixedID != 0)
	s.tunnel = tunnelAt(head, info)
}

// A transport is the TCP or UDP header.
type transport struct {
	off   int
	tcp   bool
	cwr   bool   // CWR stays on every segment
	flags uint16 // TCP: of the next segment, reserved bits too
	seq   uint32 // TCP: of the next segment
	size  uint32 // by which seq grows
	sum   uint32 // header and pseudo header without lengths, seq and flags
}

func transportAt(head []byte, net, off int, g *packet.GSO) transport {
	t := transport{off: off, tcp: g.Type != packet.GSOUDP, size: uint32(g.Size)}
	if !t.tcp {
		h := header.UDPAt(head, off)
		t.sum = pseudo(head[net:], header.ProtoUDP) + uint32(h.SrcPort()) + uint32(h.DstPort())
		return t
	}
	h := header.TCPAt(head, off)
	t.seq, t.flags, t.cwr = h.Seq(), h.Flags(), g.Flags&packet.GSOAccECN != 0
	t.sum = pseudo(head[net:], header.ProtoTCP) + uint32(checksum.Sum(head[off:])) +
		without(h[4:6]) + without(h[6:8]) + uint32(^h.Flags()) + without(h[16:18])
	return t
}

// A network is an IP header. Its zero value is none.
type network struct {
	off     int
	version uint8
	id      uint16 // IPv4: identification of the next segment
	step    uint16 // by which it grows: 1, or 0 where it is fixed
	sum     uint32 // IPv4: the header without length, identification, checksum
}

func networkAt(head []byte, off int, fixed bool) network {
	n := network{off: off, version: head[off] >> 4}
	if n.version != 4 {
		return n
	}
	h := header.IPv4At(head, off)
	n.id = h.ID()
	if !fixed {
		n.step = 1
	}
	n.sum = uint32(checksum.Sum(head[off:off+h.HeaderLen()])) +
		without(h[2:4]) + without(h[4:6]) + without(h[10:12])
	return n
}

// A tunnel is what lies between two IP headers and differs between segments.
type tunnel struct {
	kind tunnelKind
	off  int
	sum  uint32 // UDP: the pseudo header without the length
}

type tunnelKind uint8

const (
	tunnelSame      tunnelKind = iota // nothing differs: IP in IP, GRE without checksum
	tunnelGRE                         // GRE with a checksum
	tunnelUDP                         // UDP, checksum zero
	tunnelUDPSummed                   // UDP with a checksum
)

// tunnelAt asks the header itself whether it has a checksum; g.Flags says so
// for UDP only (facts/gro.md A.9).
func tunnelAt(head []byte, info *header.Info) tunnel {
	off := int(info.Tunnel)
	switch info.Encap {
	case header.EncapGRE, header.EncapTEB:
		if header.GREAt(head, off).Flags()&header.GREChecksum != 0 {
			return tunnel{kind: tunnelGRE, off: off}
		}
	case header.EncapVXLAN:
		if header.UDPAt(head, off).Checksum() == 0 {
			return tunnel{kind: tunnelUDP, off: off}
		}
		return tunnel{tunnelUDPSummed, off, pseudo(head[int(info.Outer):], header.ProtoUDP)}
	}
	return tunnel{}
}

func sequenced(head []byte, info *header.Info) bool {
	return (info.Encap == header.EncapGRE || info.Encap == header.EncapTEB) &&
		header.GREAt(head, int(info.Tunnel)).Flags()&header.GRESeq != 0
}

// routed tells whether a transport checksum covers the final destination of a
// routing header instead of the address in the IPv6 header (RFC 8200, 8.1).
func routed(head []byte, info *header.Info) bool {
	return detour(head, int(info.Net)) ||
		info.Encap == header.EncapVXLAN && detour(head, int(info.Outer))
}

// detour looks for a routing header with segments left. Parse has walked the
// extension headers.
func detour(head []byte, off int) bool {
	if head[off]>>4 != 6 {
		return false
	}
	next := head[off+6]
	for off += header.IPv6Bytes; next == header.ProtoHopByHop ||
		next == header.ProtoRouting || next == header.ProtoDestOpts; {
		if next == header.ProtoRouting && head[off+3] > 0 {
			return true
		}
		next, off = head[off], off+8*(int(head[off+1])+1)
	}
	return false
}

// without takes two bytes out of a sum they are part of.
func without(b []byte) uint32 { return uint32(^binary.BigEndian.Uint16(b)) }

// pseudo is the sum of the pseudo header of a packet that begins with its IP
// header, without the length.
func pseudo(ip []byte, proto uint8) uint32 { return uint32(checksum.Pseudo(ip, proto, 0)) }
