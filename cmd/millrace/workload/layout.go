package workload

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// A layout says where the headers of a frame lie. Offsets are in bytes.
type layout struct {
	link  int // bytes of the outermost link header
	outer int // IPv4 header of the tunnel, 0: none
	ip    int
	l4    int
	bytes int // of all headers
	tcp   bool
	ipv6  bool
}

const (
	tcpBytes = header.TCPBytes + 12 // two NOPs and a timestamp option
	// tunnelBytes is what VXLAN puts in front of the inner IP header.
	tunnelBytes = header.IPv4Bytes + header.UDPBytes + header.VXLANBytes + header.EthernetBytes
	maxHeader   = header.EthernetBytes + header.VLANBytes + tunnelBytes +
		header.IPv6Bytes + tcpBytes
)

func (c *Config) layout(tcp bool) layout {
	l := layout{link: header.EthernetBytes, tcp: tcp, ipv6: c.IPv6}
	if c.VLAN != 0 {
		l.link += header.VLANBytes
	}
	l.ip = l.link
	if c.VXLAN != 0 {
		l.outer = l.link
		l.ip += tunnelBytes
	}
	l.l4 = l.ip + header.IPv4Bytes
	if c.IPv6 {
		l.l4 = l.ip + header.IPv6Bytes
	}
	l.bytes = l.l4 + header.UDPBytes
	if tcp {
		l.bytes = l.l4 + tcpBytes
	}
	return l
}

// write fills h with the headers of flow n, whose frames carry size bytes.
// What changes from frame to frame stays zero, checksums too.
func (c *Config) write(h []byte, l layout, n, size int) {
	end := l.bytes + size // of the frame
	writeEthernet(h, 0)
	if c.VLAN != 0 {
		header.EthernetAt(h, 0).SetType(header.TypeVLAN)
		header.VLANAt(h, header.EthernetBytes).SetTCI(uint16(c.VLAN))
	}
	if c.VXLAN != 0 {
		c.writeTunnel(h, l, n, end)
	}
	proto := uint8(header.ProtoUDP)
	if l.tcp {
		proto = header.ProtoTCP
	}
	if c.IPv6 {
		binary.BigEndian.PutUint16(h[l.ip-2:], header.TypeIPv6)
		writeIPv6(h, l.ip, n, proto, end)
	} else {
		binary.BigEndian.PutUint16(h[l.ip-2:], header.TypeIPv4)
		writeIPv4(h, l.ip, n, proto, end)
	}
	if l.tcp {
		writeTCP(h, l.l4, n)
	} else {
		writeUDP(h, l.l4, uint16(portBase+n%portCount), servicePort, end)
	}
}

// Ports and addresses of flow n: the port counts first, then the address.
const (
	portBase    = 1024
	portCount   = 60000
	servicePort = 5201
)

func writeEthernet(h []byte, off int) {
	eth := header.EthernetAt(h, off)
	*eth.Dst() = [6]byte{0x02, 0, 0, 0, 0, 1}
	*eth.Src() = [6]byte{0x02, 0, 0, 0, 0, 2}
}

func (c *Config) writeTunnel(h []byte, l layout, n, end int) {
	binary.BigEndian.PutUint16(h[l.link-2:], header.TypeIPv4)
	writeIPv4(h, l.outer, 0, header.ProtoUDP, end)
	udp := l.outer + header.IPv4Bytes
	// The source port stands for the inner flow (RFC 7348 section 5).
	writeUDP(h, udp, uint16(49152+n%16384), header.PortVXLAN, end)
	vxlan := header.VXLANAt(h, udp+header.UDPBytes)
	binary.BigEndian.PutUint32(vxlan[:], header.VXLANValid)
	vxlan.SetVNI(uint32(c.VXLAN))
	writeEthernet(h, l.ip-header.EthernetBytes)
}

func writeIPv4(h []byte, off, n int, proto uint8, end int) {
	ip := header.IPv4At(h, off)
	ip.SetHeaderLen(header.IPv4Bytes)
	ip.SetTotalLen(uint16(end - off))
	ip.SetFragment(header.IPv4DF)
	ip.SetTTL(64)
	ip.SetProto(proto)
	*ip.Src() = [4]byte{10, 1, 0, byte(2 + n/portCount)}
	*ip.Dst() = [4]byte{10, 1, 0, 1}
}

func writeIPv6(h []byte, off, n int, proto uint8, end int) {
	ip := header.IPv6At(h, off)
	ip.SetFirst(0, uint32(n))
	ip.SetPayloadLen(uint16(end - off - header.IPv6Bytes))
	ip.SetNextHeader(proto)
	ip.SetHopLimit(64)
	*ip.Src() = [16]byte{0: 0xfd, 15: byte(2 + n/portCount)}
	*ip.Dst() = [16]byte{0: 0xfd, 15: 1}
}

func writeTCP(h []byte, off, n int) {
	tcp := header.TCPAt(h, off)
	tcp.SetSrcPort(uint16(portBase + n%portCount))
	tcp.SetDstPort(servicePort)
	tcp.SetAck(1)
	tcp.SetHeaderLen(tcpBytes)
	tcp.SetFlags(header.TCPAck)
	tcp.SetWindow(512)
	// NOP, NOP, timestamps (RFC 7323): value 1, echo 1.
	copy(h[off+header.TCPBytes:], []byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1})
}

func writeUDP(h []byte, off int, from, to uint16, end int) {
	udp := header.UDPAt(h, off)
	udp.SetSrcPort(from)
	udp.SetDstPort(to)
	udp.SetLength(uint16(end - off))
}

// pseudo is the sum of the pseudo header in front of the transport header.
func (l *layout) pseudo(h []byte, size int) uint16 {
	length := l.bytes - l.l4 + size
	if l.ipv6 {
		ip := header.IPv6At(h, l.ip)
		return checksum.Pseudo6(ip.Src()[:], ip.Dst()[:], ip.NextHeader(), length)
	}
	ip := header.IPv4At(h, l.ip)
	return checksum.Pseudo4(ip.Src()[:], ip.Dst()[:], ip.Proto(), length)
}
