package vnet

import (
	"fmt"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

const maxTCP = 65535 // segments: gso_segs is 16 bits wide

// A kind is what a gso_type demands of the frame (facts/gro.md A.14).
type kind struct {
	gso            packet.GSOType
	proto, version uint8 // version 0: any
	sumAt          uint16
	segs           int // most segments
}

func kindOf(gsoType uint8) kind {
	switch gsoType {
	case GSOTCPv4, GSOTCPv4 | GSOECN:
		return kind{packet.GSOTCPv4, header.ProtoTCP, 4, header.TCPSum, maxTCP}
	case GSOTCPv6, GSOTCPv6 | GSOECN:
		return kind{packet.GSOTCPv6, header.ProtoTCP, 6, header.TCPSum, maxTCP}
	case GSOUDP:
		return kind{packet.GSOUDP, header.ProtoUDP, 0, header.UDPSum, packet.MaxDatagrams}
	}
	return kind{}
}

// Parse checks a header that was read together with frame and says how gso is
// to cut the frame, all of which is then the head: gso.Cut(link, frame, nil,
// g, ...). The rules are Linux's (virtio_net_hdr_to_skb), and the error names
// the field and the limit:
//
//   - gso_size and the number of segments have their limits;
//   - gso_type, csum_start and csum_offset fit the headers of the frame, which
//     is no tunnel and no fragment;
//   - UDP asks for its checksum, TCP may leave that out.
//
// A frame that fits one segment loses its GSO mark and keeps its checksum to
// be filled in: the result then has Type GSONone. Whether the segments fit an
// IP packet, and where an IPv6 routing header leads, is left to gso. frame is
// only read.
func (h *Header) Parse(link header.LinkType, frame []byte) (packet.GSO, error) {
	var info header.Info
	header.Parse(link, frame, nil, &info)
	k := kindOf(h.GSOType())
	if err := h.checkOffsets(&info, len(frame)); err != nil {
		return packet.GSO{}, err
	}
	var g packet.GSO
	if h.Flags()&NeedsCSum != 0 {
		g.CSumStart, g.CSumOffset = h.CSumStart(), h.CSumOffset()
	}
	if h.GSOType() == GSONone {
		return g, nil
	}
	payload := len(frame) - int(info.Payload)
	if err := h.checkGSO(&info, k, payload); err != nil {
		return packet.GSO{}, err
	}
	if payload <= int(h.GSOSize()) {
		return g, nil
	}
	g = packet.GSO{Size: h.GSOSize(), HdrLen: info.Payload, CSumStart: info.L4,
		CSumOffset: k.sumAt, Type: k.gso}
	g.Segs = uint16((payload + int(g.Size) - 1) / int(g.Size))
	if h.GSOType()&GSOECN != 0 {
		g.Flags = packet.GSOECN
	}
	return g, nil
}

// checkOffsets checks hdr_len, and the checksum fields if the header asks for one.
func (h *Header) checkOffsets(info *header.Info, length int) error {
	if int(h.HdrLen()) > length {
		return fmt.Errorf("vnet: hdr_len is %d, want at most %d", h.HdrLen(), length)
	}
	if h.Flags()&NeedsCSum == 0 {
		return nil
	}
	start := int(h.CSumStart())
	if least := int(info.Outer) + header.IPv4Bytes; start < least {
		return fmt.Errorf("vnet: csum_start is %d, want at least %d, behind the IP header",
			start, least)
	}
	if end := start + int(h.CSumOffset()) + 2; end > length {
		return fmt.Errorf("vnet: csum_start %d + csum_offset %d ends at %d, want at most %d",
			start, h.CSumOffset(), end, length)
	}
	return nil
}

// checkGSO checks the segmentation fields; payload is what follows the headers.
func (h *Header) checkGSO(info *header.Info, k kind, payload int) error {
	t, size := h.GSOType(), int(h.GSOSize())
	needs := h.Flags()&NeedsCSum != 0
	switch {
	case k.gso == packet.GSONone:
		return fmt.Errorf("vnet: gso_type is %#x, want 0, 1, 4, 5, or 0x80 with 1 or 4", t)
	case size == 0 || size == SizeByFrags:
		return fmt.Errorf("vnet: gso_size is %d, want 1 to %d", size, SizeByFrags-1)
	case info.L4 == 0 || info.Payload == 0 || info.Flags&header.FlagFragment != 0:
		return fmt.Errorf("vnet: gso_type is %#x, the frame has no whole transport header", t)
	case info.Encap != header.EncapNone:
		return fmt.Errorf("vnet: gso_type is %#x, want 0 for a tunnel", t)
	case info.Proto != k.proto || k.version != 0 && info.Version != k.version:
		return fmt.Errorf("vnet: gso_type is %#x, the frame is protocol %d in IPv%d",
			t, info.Proto, info.Version)
	case needs && h.CSumStart() != info.L4:
		return fmt.Errorf("vnet: csum_start is %d, want %d, the transport header",
			h.CSumStart(), info.L4)
	case needs && h.CSumOffset() != k.sumAt:
		return fmt.Errorf("vnet: csum_offset is %d, want %d", h.CSumOffset(), k.sumAt)
	case !needs && k.gso == packet.GSOUDP:
		return fmt.Errorf("vnet: flags are %#x, want bit %d for UDP", h.Flags(), NeedsCSum)
	case payload > size*k.segs:
		return fmt.Errorf("vnet: gso_size is %d for %d bytes, want at most %d segments",
			size, payload, k.segs)
	}
	return nil
}
