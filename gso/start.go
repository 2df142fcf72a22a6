package gso

import (
	"fmt"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// Limits of Linux (facts/gro.md A.13, A.14).
const (
	maxTCP = 65535 // segments: gso_segs is 16 bits wide
	maxIP  = 65535 // bytes in an IP packet
)

// Start takes up a packet. Its first bytes are head, of which g.HdrLen are
// headers; what follows them in head is the first payload, then come the
// pieces of payload, of any length. So a frame in one run of bytes is all
// head. Both are lent until the last segment is cut. g.Segs is not read.
//
// An error says which field of g contradicts the packet, and the limit; s then
// has nothing to cut. A packet whose payload fits g.Size is one segment.
func (s *Segmenter) Start(link header.LinkType, head []byte, payload [][]byte,
	g packet.GSO) error {
	*s = Segmenter{head: head, pieces: payload}
	s.bytes = len(head)
	for _, p := range payload {
		s.bytes += len(p)
	}
	if g.Type == packet.GSONone {
		return s.startPlain(g)
	}
	if int(g.HdrLen) > len(head) {
		return fmt.Errorf("gso: HdrLen is %d, head has %d bytes", g.HdrLen, len(head))
	}
	s.head, s.piece = head[:g.HdrLen], head[g.HdrLen:]
	s.bytes -= int(g.HdrLen)
	s.size = int(g.Size)
	var info header.Info
	parse(link, s.head, g.Flags, &info)
	if err := s.check(&info, &g); err != nil {
		return err
	}
	s.plan(&info, &g)
	s.left = max(1, (s.bytes+s.size-1)/s.size)
	return nil
}

// startPlain takes up a packet that is not marked: it goes on as it is, with
// its checksum filled in where g says so.
func (s *Segmenter) startPlain(g packet.GSO) error {
	s.sumFrom, s.sumAt = int(g.CSumStart), int(g.CSumStart)+int(g.CSumOffset)
	if s.sumFrom > 0 && s.sumAt+2 > s.bytes {
		return fmt.Errorf("gso: CSumStart %d + CSumOffset %d, the packet has %d bytes",
			g.CSumStart, g.CSumOffset, s.bytes)
	}
	s.left = min(1, s.bytes)
	s.bytes -= len(s.head)
	s.size = s.bytes
	return nil
}

// parse finds the headers. A UDP tunnel may use any port, so the one in the
// frame is it where the flags say that there is one.
func parse(link header.LinkType, head []byte, flags packet.GSOFlags, info *header.Info) {
	header.Parse(link, head, nil, info)
	const udpTunnel = packet.GSOUDPTunnel | packet.GSOUDPTunnelCSum
	if flags&udpTunnel != 0 && info.Proto == header.ProtoUDP && info.Payload != 0 {
		port := header.UDPAt(head, int(info.L4)).DstPort()
		o := header.ParseOptions{VXLAN: []uint16{port}}
		*info = header.Info{}
		header.Parse(link, head, &o, info)
	}
}

// check compares what g claims with the headers.
func (s *Segmenter) check(info *header.Info, g *packet.GSO) error {
	want := form(g.Type)
	switch {
	case want.proto == 0:
		return fmt.Errorf("gso: Type is %d, want GSOTCPv4, GSOTCPv6 or GSOUDP", g.Type)
	case g.Size == 0:
		return fmt.Errorf("gso: Size is 0, want 1 to %d", maxIP)
	case info.Flags&header.FlagFragment != 0 || info.Version == 0 || info.L4 == 0:
		return fmt.Errorf("gso: no transport header within HdrLen %d", g.HdrLen)
	case info.Proto != want.proto || want.version != 0 && info.Version != want.version:
		return fmt.Errorf("gso: Type is %d, the packet is protocol %d in IPv%d",
			g.Type, info.Proto, info.Version)
	case g.CSumStart != info.L4:
		return fmt.Errorf("gso: CSumStart is %d, the transport header is at %d",
			g.CSumStart, info.L4)
	case g.CSumOffset != want.sumAt:
		return fmt.Errorf("gso: CSumOffset is %d, want %d", g.CSumOffset, want.sumAt)
	case g.HdrLen != info.Payload:
		return fmt.Errorf("gso: HdrLen is %d, the headers end at %d", g.HdrLen, info.Payload)
	case s.bytes > s.size*want.segs:
		return fmt.Errorf("gso: %d bytes in segments of %d, want at most %d segments",
			s.bytes, g.Size, want.segs)
	case int(g.HdrLen-info.Outer)+min(s.bytes, s.size) > maxIP:
		return fmt.Errorf("gso: Size %d makes IP packets longer than %d bytes", g.Size, maxIP)
	case sequenced(s.head, info):
		return fmt.Errorf("gso: GRE header with a sequence number, which only its sender can count")
	case info.Flags&header.FlagExtensions != 0 && routed(s.head, info):
		return fmt.Errorf("gso: IPv6 routing header with segments left: its checksum " +
			"covers an address that is not in the IPv6 header")
	}
	return nil
}

// A format is what a packet.GSOType demands of the packet.
type format struct {
	proto, version uint8  // version 0: any
	sumAt          uint16 // CSumOffset
	segs           int    // most segments
}

func form(t packet.GSOType) format {
	switch t {
	case packet.GSOTCPv4:
		return format{header.ProtoTCP, 4, header.TCPSum, maxTCP}
	case packet.GSOTCPv6:
		return format{header.ProtoTCP, 6, header.TCPSum, maxTCP}
	case packet.GSOUDP:
		return format{header.ProtoUDP, 0, header.UDPSum, packet.MaxDatagrams}
	}
	return format{}
}
