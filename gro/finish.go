package gro

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// finish makes head, the headers of the first packet, those of the whole
// aggregate: lengths, IPv4 checksums, FIN and PSH of the merged ones. The
// transport checksum is left as the sum of the pseudo header, to be filled in
// (facts/gro.md A.9); so is that of a tunnel's UDP header that has one. gso is
// told how the aggregate is cut again.
func (e *held) finish(head []byte, gso *packet.GSO) {
	i := &e.info
	length := e.length()
	gso.Flags = e.gsoFlags()
	if i.Encap != header.EncapNone {
		setLength(head, int(i.Outer), length)
		gso.Flags |= finishTunnel(head, i, length)
	}
	setLength(head, int(i.Net), length)
	gso.Size, gso.Segs, gso.HdrLen, gso.CSumStart =
		uint16(e.size), uint16(e.count), i.Payload, i.L4
	sum := checksum.Pseudo(head[int(i.Net):], i.Proto, length-int(i.L4))
	if i.Proto == header.ProtoUDP {
		h := header.UDPAt(head, int(i.L4))
		h.SetLength(uint16(length - int(i.L4)))
		h.SetChecksum(sum)
		gso.Type, gso.CSumOffset = packet.GSOUDP, header.UDPSum
		return
	}
	h := header.TCPAt(head, int(i.L4))
	h[13] |= e.flags & (header.TCPFin | header.TCPPsh)
	h.SetChecksum(sum)
	gso.Type, gso.CSumOffset = packet.GSOTCPv4, header.TCPSum
	if i.Version == 6 {
		gso.Type = packet.GSOTCPv6
	}
}

// gsoFlags says which IPv4 identifications stay.
func (e *held) gsoFlags() (flags packet.GSOFlags) {
	if e.info.Encap == header.EncapNone {
		if e.fixed(inner) {
			flags = packet.GSOFixedID
		}
		return flags
	}
	if e.fixed(outer) {
		flags = packet.GSOFixedID
	}
	if e.fixed(inner) {
		flags |= packet.GSOFixedIDInner
	}
	return flags
}

// finishTunnel writes the tunnel header and names its kind.
func finishTunnel(head []byte, i *header.Info, length int) packet.GSOFlags {
	switch i.Encap {
	case header.EncapGRE, header.EncapTEB:
		if header.GREAt(head, int(i.Tunnel)).Flags()&header.GREChecksum != 0 {
			return packet.GSOGRE | packet.GSOGRECSum
		}
		return packet.GSOGRE
	case header.EncapVXLAN:
		h, n := header.UDPAt(head, int(i.Tunnel)), length-int(i.Tunnel)
		h.SetLength(uint16(n))
		if h.Checksum() == 0 {
			return packet.GSOUDPTunnel
		}
		h.SetChecksum(checksum.Pseudo(head[int(i.Outer):], header.ProtoUDP, n))
		return packet.GSOUDPTunnelCSum
	}
	if head[i.Outer]>>4 == 4 {
		return packet.GSOIPXIP4
	}
	return packet.GSOIPXIP6
}

// setLength writes the length of the IP header at off in a frame of length
// bytes.
func setLength(head []byte, off, length int) {
	if head[off]>>4 == 6 {
		header.IPv6At(head, off).SetPayloadLen(uint16(length - off - header.IPv6Bytes))
		return
	}
	h := header.IPv4At(head, off)
	n := uint16(length - off)
	h.SetChecksum(checksum.Replace16(h.Checksum(), h.TotalLen(), n))
	h.SetTotalLen(n)
}
