package nic

import "github.com/millrace-net/millrace/header"

// isTransport says that there is a whole TCP or UDP header: no fragment.
func isTransport(info *header.Info) bool {
	return info.Payload != 0 && info.Flags&header.FlagFragment == 0 &&
		(info.Proto == header.ProtoTCP || info.Proto == header.ProtoUDP)
}

// transportEnd is where the bytes end that the innermost TCP or UDP checksum
// covers, 0 when there is none or it cannot be told: a fragment, a frame cut
// short.
func transportEnd(info *header.Info, b []byte) int {
	end := int(info.End)
	if !isTransport(info) || end > len(b) || end < int(info.Payload) {
		return 0
	}
	if info.Proto == header.ProtoUDP {
		return udpEnd(b, int(info.L4), end)
	}
	return end
}

// tunnelEnd is the same for the checksum of the UDP header of a tunnel.
func tunnelEnd(info *header.Info, b []byte) int {
	return udpEnd(b, int(info.Tunnel), min(ipEnd(b, int(info.Outer)), len(b)))
}

// udpEnd is where the UDP datagram at off ends by its own length, 0 when it is
// shorter than its header or runs over limit.
func udpEnd(b []byte, off, limit int) int {
	n := int(header.UDPAt(b, off).Length())
	if n < header.UDPBytes || off+n > limit {
		return 0
	}
	return off + n
}

// ipEnd is the end of the IP packet at off by its own length field.
func ipEnd(b []byte, off int) int {
	if b[off]>>4 == 4 {
		return off + int(header.IPv4At(b, off).TotalLen())
	}
	return off + header.IPv6Bytes + int(header.IPv6At(b, off).PayloadLen())
}
