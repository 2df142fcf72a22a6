package gro

import (
	"bytes"
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// Frames for tests. The zero value of every field is the plain case.

var (
	addr4 = [2][]byte{{10, 0, 0, 1}, {10, 0, 0, 2}}
	addr6 = [2][]byte{append([]byte{0xfd}, append(make([]byte, 14), 1)...),
		append([]byte{0xfd}, append(make([]byte, 14), 2)...)}
)

// A tcpSeg is a TCP segment.
type tcpSeg struct {
	seq, n   int
	flags    uint16 // 0: ACK
	noAck    bool
	ack      uint32
	window   int // 0: 1000
	options  []byte
	src, dst int // ports; 0: 1 and 2
	urgent   uint16
	bad      bool // wrong checksum
	fill     byte
}

// An ipHdr is an IPv4 or IPv6 header.
type ipHdr struct {
	v6       bool
	id       int
	df0      bool
	ttl, tos int // 0: 64, 0
	fragment uint16
	label    uint32
	next     byte   // extension header
	ext      []byte // its bytes, without the next header byte
	options  []byte
	badSum   bool
	addr     byte // changes the last byte of both addresses
}

func be(n int, v uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, v)
	return b[8-n:]
}

func (h ipHdr) addresses() (src, dst []byte) {
	pair := addr4
	if h.v6 {
		pair = addr6
	}
	src, dst = bytes.Clone(pair[0]), bytes.Clone(pair[1])
	src[len(src)-1] += h.addr
	dst[len(dst)-1] += h.addr
	return src, dst
}

func (h ipHdr) pseudo(proto byte, n int) uint16 {
	src, dst := h.addresses()
	if h.v6 {
		return checksum.Pseudo6(src, dst, proto, n)
	}
	return checksum.Pseudo4(src, dst, proto, n)
}

// wrap puts the header in front of a payload.
func (h ipHdr) wrap(proto byte, payload []byte) []byte {
	src, dst := h.addresses()
	ttl := byte(64)
	if h.ttl != 0 {
		ttl = byte(h.ttl)
	}
	if h.v6 {
		var ext []byte
		if h.ext != nil {
			ext = append([]byte{proto}, h.ext...)
			proto = h.next
		}
		first := 6<<28 | uint64(h.tos)<<20 | uint64(h.label)
		return bytes.Join([][]byte{be(4, first), be(2, uint64(len(payload)+len(ext))),
			{proto, ttl}, src, dst, ext, payload}, nil)
	}
	frag := uint64(h.fragment)
	if !h.df0 {
		frag |= header.IPv4DF
	}
	size := 20 + len(h.options)
	b := bytes.Join([][]byte{{0x40 | byte(size/4), byte(h.tos)},
		be(2, uint64(size+len(payload))), be(2, uint64(uint16(h.id))), be(2, frag),
		{ttl, proto, 0, 0}, src, dst, h.options}, nil)
	sum := ^checksum.Sum(b)
	if h.badSum {
		sum--
	}
	binary.BigEndian.PutUint16(b[10:], sum)
	return append(b, payload...)
}

// bytes is the segment as the payload of h.
func (t tcpSeg) bytes(h ipHdr) []byte {
	flags, window, src, dst := t.flags, t.window, t.src, t.dst
	if flags == 0 && !t.noAck {
		flags = header.TCPAck
	}
	if window == 0 {
		window = 1000
	}
	if src == 0 {
		src = 1
	}
	if dst == 0 {
		dst = 2
	}
	fill := t.fill
	if fill == 0 {
		fill = 'a'
	}
	size := 20 + len(t.options)
	b := bytes.Join([][]byte{be(2, uint64(src)), be(2, uint64(dst)), be(4, uint64(t.seq)),
		be(4, uint64(1+t.ack)), be(2, uint64(size/4)<<12|uint64(flags)), be(2, uint64(window)),
		{0, 0}, be(2, uint64(t.urgent)), t.options, bytes.Repeat([]byte{fill}, t.n)}, nil)
	sum := ^checksum.Combine(checksum.Sum(b), h.pseudo(header.ProtoTCP, len(b)), false)
	if t.bad {
		sum ^= 0x5555
	}
	binary.BigEndian.PutUint16(b[16:], sum)
	return b
}

// A datagram is a UDP datagram.
type datagram struct {
	n        int
	src, dst int // 0: 1 and 2
	zero     bool
	length   int // 0: right
	payload  []byte
}

func (d datagram) bytes(h ipHdr) []byte {
	payload := d.payload
	if payload == nil {
		payload = bytes.Repeat([]byte{'u'}, d.n)
	}
	src, dst, length := d.src, d.dst, d.length
	if src == 0 {
		src = 1
	}
	if dst == 0 {
		dst = 2
	}
	if length == 0 {
		length = 8 + len(payload)
	}
	b := bytes.Join([][]byte{be(2, uint64(src)), be(2, uint64(dst)), be(2, uint64(length)),
		{0, 0}, payload}, nil)
	if !d.zero {
		sum := ^checksum.Combine(checksum.Sum(b), h.pseudo(header.ProtoUDP, len(b)), false)
		if sum == 0 {
			sum = 0xffff
		}
		binary.BigEndian.PutUint16(b[6:], sum)
	}
	return b
}

func ethernet(typ uint16, payload []byte) []byte {
	macs := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	return bytes.Join([][]byte{macs, be(2, uint64(typ)), payload}, nil)
}

// onEthernet frames an IP packet.
func onEthernet(packet []byte) []byte {
	if packet[0]>>4 == 6 {
		return ethernet(header.TypeIPv6, packet)
	}
	return ethernet(header.TypeIPv4, packet)
}

// tcp4 and tcp6 are whole frames.
func tcp4(h ipHdr, t tcpSeg) []byte { return onEthernet(h.wrap(header.ProtoTCP, t.bytes(h))) }

func tcp6(h ipHdr, t tcpSeg) []byte {
	h.v6 = true
	return tcp4(h, t)
}

func udp4(h ipHdr, d datagram) []byte { return onEthernet(h.wrap(header.ProtoUDP, d.bytes(h))) }

// vlan puts a tag into a frame.
func vlan(f []byte, tci uint16) []byte {
	return bytes.Join([][]byte{f[:12], be(2, header.TypeVLAN), be(2, uint64(tci)), f[12:]}, nil)
}

// ipip puts the IP packet of a frame into another.
func ipip(h ipHdr, f []byte) []byte {
	proto := byte(header.ProtoIPv4)
	if f[14]>>4 == 6 {
		proto = header.ProtoIPv6
	}
	return onEthernet(h.wrap(proto, f[14:]))
}

// gre puts the IP packet of a frame, or all of it, behind a GRE header.
func gre(h ipHdr, flags uint16, rest []byte, f []byte) []byte {
	typ, inside := uint64(binary.BigEndian.Uint16(f[12:])), f[14:]
	b := bytes.Join([][]byte{be(2, uint64(flags)), be(2, typ), rest, inside}, nil)
	if flags&header.GREChecksum != 0 {
		binary.BigEndian.PutUint16(b[4:], ^checksum.Sum(b))
	}
	return onEthernet(h.wrap(header.ProtoGRE, b))
}

// gretap puts a whole frame behind a GRE header.
func gretap(h ipHdr, f []byte) []byte {
	return onEthernet(h.wrap(header.ProtoGRE, append([]byte{0, 0, 0x65, 0x58}, f...)))
}

// vxlan puts a frame behind a VXLAN header.
func vxlan(h ipHdr, vni, port int, sum bool, f []byte) []byte {
	p := bytes.Join([][]byte{{8, 0, 0, 0}, be(4, uint64(vni)<<8), f}, nil)
	return udp4(h, datagram{src: port, dst: header.PortVXLAN, zero: !sum, payload: p})
}
