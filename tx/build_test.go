package tx

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A kind is a stack of headers; gso is what a packet of it says of itself.
type kind struct {
	name string
	head []byte
	gso  packet.GSO
}

var macs = []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}

func eth(typ uint16) []byte { return binary.BigEndian.AppendUint16(append([]byte{}, macs...), typ) }

func ip4(proto uint8, options int) []byte {
	h := make([]byte, 20+options)
	h[0], h[4], h[8], h[9] = 0x45+byte(options/4), 7, 64, proto
	for i := range options {
		h[20+i] = 1
	}
	copy(h[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	return h
}

func ip6(proto uint8) []byte {
	h := make([]byte, 40)
	h[0], h[6], h[7], h[8], h[24], h[39] = 0x60, proto, 64, 0xfd, 0xfd, 9
	return h
}

func tcp() []byte {
	h := make([]byte, 32)
	binary.BigEndian.PutUint32(h, 1000<<16|2000)
	binary.BigEndian.PutUint32(h[4:], 0xfffff000)
	h[12], h[13], h[14] = 0x80, 0x19, 0x20 // ACK, PSH, FIN
	copy(h[20:], []byte{1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8})
	return h
}

func udp(port uint16) []byte {
	h := make([]byte, 8)
	binary.BigEndian.PutUint32(h, 1000<<16|uint32(port))
	return h
}

// stack puts headers one behind the other. The last one is the transport
// header.
func stack(name string, typ packet.GSOType, flags packet.GSOFlags, parts ...[]byte) kind {
	k := kind{name: name}
	for _, p := range parts {
		k.gso.CSumStart = uint16(len(k.head))
		k.head = append(k.head, p...)
	}
	k.gso.HdrLen, k.gso.Type, k.gso.Flags, k.gso.CSumOffset = uint16(len(k.head)), typ, flags, 16
	if typ == packet.GSOUDP {
		k.gso.CSumOffset = 6
	}
	return k
}

func tcp4Kind() kind {
	return stack("tcp4", packet.GSOTCPv4, 0, eth(header.TypeIPv4), ip4(6, 0), tcp())
}

func kinds() []kind {
	v4, v6 := eth(header.TypeIPv4), eth(header.TypeIPv6)
	vxlan := append(udp(4789), 8, 0, 0, 0, 0, 0, 7, 0)
	odd := append(udp(9999), 8, 0, 0, 0, 0, 0, 7, 0)
	tag := append(append(append([]byte{}, macs...), 0x81, 0, 0, 5), 8, 0)
	return []kind{
		tcp4Kind(),
		stack("tcp6", packet.GSOTCPv6, 0, v6, ip6(6), tcp()),
		stack("udp4", packet.GSOUDP, 0, v4, ip4(17, 0), udp(2000)),
		stack("udp6", packet.GSOUDP, 0, v6, ip6(17), udp(2000)),
		stack("tag", packet.GSOTCPv4, 0, tag, ip4(6, 0), tcp()),
		stack("ecn", packet.GSOTCPv4, packet.GSOECN, v4, ip4(6, 0), cwr()),
		stack("vxlan", packet.GSOTCPv4, packet.GSOUDPTunnel,
			v4, ip4(17, 0), vxlan, v4, ip4(6, 0), tcp()),
		stack("gre", packet.GSOTCPv6, packet.GSOGRE,
			v4, ip4(47, 0), []byte{0, 0, 0x86, 0xdd}, ip6(6), tcp()),
		stack("ipip", packet.GSOTCPv4, packet.GSOIPXIP4, v4, ip4(4, 0), ip4(6, 0), tcp()),
		// What the device is not left:
		stack("options", packet.GSOTCPv4, 0, v4, ip4(6, 8), tcp()),
		stack("fixed id", packet.GSOTCPv4, packet.GSOFixedID, v4, ip4(6, 0), tcp()),
		stack("accecn", packet.GSOTCPv4, packet.GSOAccECN, v4, ip4(6, 0), cwr()),
		stack("odd vxlan", packet.GSOTCPv4, packet.GSOUDPTunnel,
			v4, ip4(17, 0), odd, v4, ip4(6, 0), tcp()),
	}
}

func cwr() []byte {
	h := tcp()
	h[13] |= 0x80
	return h
}

// packetOf puts a packet of the kind into the slab: the headers and the first
// linear bytes of payload in its head, the rest in fragments. With size it is
// to be cut, without it asks for its checksum.
func (r *rig) packetOf(k kind, size, linear int, frags ...int) (uint32, *packet.Packet) {
	i, p := r.blank(len(k.head)+linear, frags...)
	b := p.Bytes()
	copy(b, k.head)
	lengths(b[:len(k.head)], &k.gso, int(p.Len))
	if len(frags) == 0 {
		*p.Shared() = packet.SharedInfo{}
	}
	p.CSumKind = packet.CSumPartial
	g := &p.Shared().GSO
	*g = k.gso
	if size > 0 {
		g.Size = uint16(size)
		g.Segs = uint16((int(p.Len) - len(k.head) + size - 1) / size)
		return i, p
	}
	*g = packet.GSO{CSumStart: k.gso.CSumStart, CSumOffset: k.gso.CSumOffset, Flags: k.gso.Flags}
	return i, p
}

// lengths fills in what depends on the length n of the whole packet: lengths,
// sums of IPv4 headers, and the sum of the pseudo header.
func lengths(h []byte, g *packet.GSO, n int) {
	var info header.Info
	ports := []uint16{4789, 9999}
	header.Parse(header.LinkEthernet, h, &header.ParseOptions{VXLAN: ports}, &info)
	for _, at := range []int{int(info.Outer), int(info.Net)} {
		if h[at]>>4 == 6 {
			binary.BigEndian.PutUint16(h[at+4:], uint16(n-at-40))
			continue
		}
		binary.BigEndian.PutUint16(h[at+2:], uint16(n-at))
		fillIPv4(h, at)
	}
	if info.Encap == header.EncapVXLAN {
		binary.BigEndian.PutUint16(h[info.Tunnel+4:], uint16(n-int(info.Tunnel)))
	}
	l4, net := int(g.CSumStart), int(info.Net)
	proto := uint8(header.ProtoTCP)
	if g.CSumOffset == 6 {
		proto = header.ProtoUDP
		binary.BigEndian.PutUint16(h[l4+4:], uint16(n-l4))
	}
	var pseudo uint16
	if h[net]>>4 == 4 {
		pseudo = checksum.Pseudo4(h[net+12:net+16], h[net+16:net+20], proto, n-l4)
	} else {
		pseudo = checksum.Pseudo6(h[net+8:net+24], h[net+24:net+40], proto, n-l4)
	}
	binary.BigEndian.PutUint16(h[l4+int(g.CSumOffset):], pseudo)
}

// wire is what has to leave for a packet: cut by package gso, which is tested
// against the kernel, with its checksum and its tag.
func (r *rig) wire(p *packet.Packet) (frames [][]byte) {
	r.t.Helper()
	head, payload := gso.Pieces(r.slab, p, nil)
	var g packet.GSO
	if hasShared(p) {
		g = p.Shared().GSO
	}
	if g.Size == 0 {
		g = packet.GSO{CSumStart: g.CSumStart, CSumOffset: g.CSumOffset}
	}
	if p.CSumKind != packet.CSumPartial && g.Size == 0 {
		g.CSumStart = 0
	}
	var s gso.Segmenter
	if err := s.Start(header.LinkEthernet, head, payload, g); err != nil {
		r.t.Fatal(err)
	}
	for s.Left() > 0 {
		b := make([]byte, s.Need())
		s.Next(b)
		if p.TagType != 0 {
			b = tagged(b, p.TagType, p.TagTCI)
		}
		frames = append(frames, b)
	}
	return frames
}
