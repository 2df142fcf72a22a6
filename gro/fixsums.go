package gro

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// FixChecksums writes the right IPv4 header, TCP and UDP checksums into a
// frame. A capture taken on the sending machine has none of them where the
// network card was to fill them in, and nothing of it would be merged.
//
// Only the outermost IP header and what directly follows it are touched. Left
// alone are packets that are not whole in the frame, fragments, and UDP
// without a checksum.
func FixChecksums(link header.LinkType, frame []byte) {
	var info header.Info
	header.Parse(link, frame, nil, &info)
	if info.Version == 0 {
		return
	}
	net := int(info.Outer)
	l4, end, proto := extent(frame, net)
	if end > len(frame) || l4 > end {
		return
	}
	if frame[net]>>4 == 4 {
		h := header.IPv4At(frame, net)
		h.SetChecksum(0)
		h.SetChecksum(^checksum.Sum(frame[net:l4]))
		if h.IsFragment() {
			return
		}
	}
	fixTransport(frame[:end], net, l4, proto)
}

// extent is where the payload of the IP header at net begins, where it ends by
// the length field, and its protocol.
func extent(frame []byte, net int) (l4, end int, proto uint8) {
	if frame[net]>>4 == 4 {
		h := header.IPv4At(frame, net)
		return net + h.HeaderLen(), net + int(h.TotalLen()), h.Proto()
	}
	h := header.IPv6At(frame, net)
	l4 = net + header.IPv6Bytes
	return l4, l4 + int(h.PayloadLen()), h.NextHeader()
}

func fixTransport(packet []byte, net, l4 int, proto uint8) {
	at := 0
	switch proto {
	case header.ProtoTCP:
		at = l4 + header.TCPSum
	case header.ProtoUDP:
		at = l4 + header.UDPSum
	default:
		return
	}
	if at+2 > len(packet) || proto == header.ProtoUDP && packet[at]|packet[at+1] == 0 {
		return
	}
	packet[at], packet[at+1] = 0, 0
	sum := checksum.Pseudo(packet[net:], proto, len(packet)-l4)
	sum = ^checksum.Combine(checksum.Sum(packet[l4:]), sum, false)
	if sum == 0 && proto == header.ProtoUDP {
		sum = 0xffff
	}
	packet[at], packet[at+1] = byte(sum>>8), byte(sum)
}
