package header

// ParseOptions tells Parse what the frame itself does not say. A nil pointer
// means the zero value.
type ParseOptions struct {
	VXLAN []uint16 // UDP destination ports that carry VXLAN
}

// Parse says in info where the headers of frame lie. frame may be only the
// head of a longer one, and may be damaged in any way: Parse goes as far as
// the bytes make sense and sets FlagTruncated where they end too early. Every
// offset lies in the frame, and Outer <= Tunnel <= Net <= L4 <= Payload among
// those that are set. L4 is set once the network headers lead to a transport
// header, Payload once all of that header is there and known (TCP, UDP, ICMP).
// Of tunnels one level is walked. Nothing is verified: no checksum, and no
// length field but those of the headers themselves.
func Parse(link LinkType, frame []byte, o *ParseOptions, info *Info) {
	if link == LinkEthernet && parsePlain(frame, o, info) {
		return
	}
	*info = Info{}
	// Offsets are 16 bits wide; no header that matters lies further in.
	w := walk{b: frame[:min(len(frame), 0xffff)], o: o, info: info}
	w.link(link)
	if int(info.End) > len(frame) {
		info.Flags |= FlagTruncated
	}
}

// Lengths of the shortest plain frames.
const (
	plain4 = EthernetBytes + IPv4Bytes + TCPBytes
	plain6 = EthernetBytes + IPv6Bytes + TCPBytes
)

// parsePlain reads the frames that almost all frames are: Ethernet, IPv4
// without options or IPv6 without extension headers, TCP or UDP. It reports
// false, and leaves info alone, for any other.
func parsePlain(b []byte, o *ParseOptions, info *Info) bool {
	if len(b) < plain4 {
		return false
	}
	switch EthernetAt(b, 0).Type() {
	case TypeIPv4:
		return parsePlain4(b, o, info)
	case TypeIPv6:
		return len(b) >= plain6 && parsePlain6(b, o, info)
	}
	return false
}

func parsePlain4(b []byte, o *ParseOptions, info *Info) bool {
	const l4 = EthernetBytes + IPv4Bytes
	h := (*[plain4]byte)(b)
	ip := (*IPv4)(h[EthernetBytes:])
	if ip[0] != 0x45 || ip.IsFragment() {
		return false
	}
	payload := l4 + (*TCP)(h[l4:]).HeaderLen()
	if ip.Proto() != ProtoTCP {
		if payload = l4 + UDPBytes; ip.Proto() != ProtoUDP || o.tunnels() {
			return false
		}
	} else if payload < plain4 || payload > len(b) {
		return false
	}
	end := EthernetBytes + int(ip.TotalLen())
	plain(info, TypeIPv4, 4, ip.Proto(), l4, payload, end, len(b))
	return true
}

func parsePlain6(b []byte, o *ParseOptions, info *Info) bool {
	const l4 = EthernetBytes + IPv6Bytes
	h := (*[plain6]byte)(b)
	ip := (*IPv6)(h[EthernetBytes:])
	if ip.Version() != 6 {
		return false
	}
	payload := l4 + (*TCP)(h[l4:]).HeaderLen()
	if ip.NextHeader() != ProtoTCP {
		if payload = l4 + UDPBytes; ip.NextHeader() != ProtoUDP || o.tunnels() {
			return false
		}
	} else if payload < plain6 || payload > len(b) {
		return false
	}
	plain(info, TypeIPv6, 6, ip.NextHeader(), l4, payload, l4+int(ip.PayloadLen()), len(b))
	return true
}

// tunnels tells that a UDP port may be that of a tunnel.
func (o *ParseOptions) tunnels() bool { return o != nil && len(o.VXLAN) > 0 }

// plain fills info field by field: a composite literal would be built on the
// stack and copied, and the copy would wait for the stores.
func plain(info *Info, typ uint16, version, proto uint8, l4, payload, end, n int) {
	info.Net = EthernetBytes
	info.L4 = uint16(l4)
	info.Payload = uint16(payload)
	info.Outer = EthernetBytes
	info.Tunnel = 0
	info.Type = typ
	info.End = uint32(end)
	info.Proto = proto
	info.Version = version
	info.Tags = 0
	info.Encap = EncapNone
	info.Flags = 0
	if end > n {
		info.Flags = FlagTruncated
	}
}
