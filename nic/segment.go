package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// maxLarge is the longest packet that is cut, in bytes (GSO_MAX_SIZE of
// Linux).
const maxLarge = 8 * desc.MaxBytes

// openLarge checks an LSO WQE and prepares to cut its packet: the inline header
// is repeated in front of every MSS bytes of payload (facts/mlx5e.md 7.1, 13).
// The header must be all headers and no more, down to TCP or UDP, in a tunnel
// that the device knows to the inner one; its transport checksum must be asked
// for, as every frame has another.
func (s *sender) openLarge() desc.Syndrome {
	w, info := &s.wqe, &s.info
	mss := w.eth().MSS()
	if w.header == 0 || mss == 0 {
		return desc.LocalQPOp
	}
	header.Parse(header.LinkEthernet, w.inlineHeader(), &s.dev.parse, info)
	g := packet.GSO{Size: mss, HdrLen: uint16(w.header), CSumStart: info.L4}
	if !s.describe(&g, info) {
		return desc.LocalQPOp
	}
	if y := w.measure(); y != 0 {
		return y
	}
	if w.bytes > maxLarge || min(w.bytes, w.header+int(mss)) > desc.MaxBytes {
		return desc.LocalLength
	}
	if !s.gather() {
		return desc.LocalProt
	}
	// It allocates only to say what is wrong.
	if s.cut.Start(header.LinkEthernet, w.inlineHeader(), s.pieces[:s.parts], g) != nil {
		return desc.LocalQPOp
	}
	return 0
}

// gather finds the payload. It reports false where it does not lie in memory
// that the device may read.
func (s *sender) gather() bool {
	w := &s.wqe
	s.parts = 0
	for at := w.data; at < w.end; s.parts++ {
		p := &s.pieces[s.parts]
		if n, inline := w.segment(at); inline {
			*p, at = w.inlinePiece(at)
		} else {
			d, ok := (*desc.DataSegment)(w.raw[at:]), false
			if *p, ok = s.dev.dom.Reach(d.Addr(), uint32(n), false); !ok {
				return false
			}
			at += desc.SegmentBytes
		}
	}
	return true
}

// describe says in g what package gso is to cut. It reports false where that is
// neither TCP nor UDP, the feature is off, or the checksum is not asked for.
func (s *sender) describe(g *packet.GSO, info *header.Info) bool {
	need := TSO
	switch {
	case info.Proto == header.ProtoTCP && info.Version == 4:
		g.Type, g.CSumOffset = packet.GSOTCPv4, header.TCPSum
	case info.Proto == header.ProtoTCP:
		g.Type, g.CSumOffset = packet.GSOTCPv6, header.TCPSum
	case info.Proto == header.ProtoUDP:
		g.Type, g.CSumOffset = packet.GSOUDP, header.UDPSum
		need = USO
	default:
		return false
	}
	sum := desc.SendCSumL4
	if info.Encap != header.EncapNone {
		sum = desc.SendCSumInnerL4
	}
	if info.Encap == header.EncapVXLAN {
		g.Flags = packet.GSOUDPTunnel
	}
	return s.dev.features&need != 0 && s.wqe.sums&sum != 0
}

// sendLarge sends the frames that are not sent yet. It reports false when the
// cable is full.
func (s *sender) sendLarge() (done bool) {
	for n := s.cut.Need(); n > 0; n = s.cut.Need() {
		f := s.dev.reserve(n)
		if f == nil {
			return false
		}
		s.cut.Next(f.Data)
		s.count.sent++
		s.count.sentBytes += uint64(n)
		s.count.largeFrames++
		s.dev.commit(f)
	}
	return true
}
