package nic

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// Builders of frames with right checksums. Lengths of payloads are in bytes;
// every payload is a pattern of its own length.

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	return b
}

func ethernet(typ uint16, payload []byte) []byte {
	b := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0, 0}, payload...)
	binary.BigEndian.PutUint16(b[12:], typ)
	return b
}

// tagged puts a tag of the given EtherType into an Ethernet frame.
func tagged(typ, tci uint16, frame []byte) []byte {
	b := append([]byte{}, frame[:12]...)
	b = binary.BigEndian.AppendUint16(b, typ)
	b = binary.BigEndian.AppendUint16(b, tci)
	return append(b, frame[12:]...)
}

// ip4 is an IPv4 packet from 10.0.0.1 to 10.0.0.2.
func ip4(proto uint8, payload []byte) []byte {
	b := append([]byte{0x45, 0, 0, 0, 0, 7, 0x40, 0, 64, proto, 0, 0,
		10, 0, 0, 1, 10, 0, 0, 2}, payload...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	fixIP4(b)
	fixL4(b[20:], checksum.Pseudo4(b[12:16], b[16:20], proto, len(payload)), proto)
	return b
}

func fixIP4(b []byte) {
	b[10], b[11] = 0, 0
	binary.BigEndian.PutUint16(b[10:], ^checksum.Sum(b[:20]))
}

// ip6 is an IPv6 packet from fc00::1 to fc00::2.
func ip6(proto uint8, payload []byte) []byte {
	b := make([]byte, 40, 40+len(payload))
	b[0], b[6], b[7], b[8], b[23], b[24], b[39] = 0x60, proto, 64, 0xfc, 1, 0xfc, 2
	b = append(b, payload...)
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	fixL4(b[40:], checksum.Pseudo6(b[8:24], b[24:40], proto, len(payload)), proto)
	return b
}

// fixL4 fills in a checksum over b and the pseudo header.
func fixL4(b []byte, pseudo uint16, proto uint8) {
	at := map[uint8]int{header.ProtoTCP: 16, header.ProtoUDP: 6}[proto]
	if at == 0 {
		return
	}
	b[at], b[at+1] = 0, 0
	binary.BigEndian.PutUint16(b[at:], ^checksum.Combine(checksum.Sum(b), pseudo, false))
}

// segment describes a TCP segment.
type segment struct {
	port    uint16
	seq     uint32
	ack     uint32
	flags   uint8
	window  uint16
	stamp   uint32 // with timestamp option if not 0
	payload int
}

func tcp(s segment) []byte {
	b := make([]byte, 20, 32+s.payload)
	binary.BigEndian.PutUint16(b[0:], s.port)
	binary.BigEndian.PutUint16(b[2:], 80)
	binary.BigEndian.PutUint32(b[4:], s.seq)
	binary.BigEndian.PutUint32(b[8:], s.ack)
	b[12], b[13] = 5<<4, s.flags
	binary.BigEndian.PutUint16(b[14:], s.window)
	if s.stamp != 0 {
		b[12] = 8 << 4
		b = binary.BigEndian.AppendUint32(b, 0x0101080a)
		b = binary.BigEndian.AppendUint32(b, s.stamp)
		b = binary.BigEndian.AppendUint32(b, 99)
	}
	return append(b, pattern(s.payload)...)
}

func udp(port uint16, payload []byte) []byte {
	b := make([]byte, 8, 8+len(payload))
	binary.BigEndian.PutUint16(b[0:], 4000)
	binary.BigEndian.PutUint16(b[2:], port)
	binary.BigEndian.PutUint16(b[4:], uint16(8+len(payload)))
	return append(b, payload...)
}

func tcp4(s segment) []byte { return ethernet(header.TypeIPv4, ip4(header.ProtoTCP, tcp(s))) }
func tcp6(s segment) []byte { return ethernet(header.TypeIPv6, ip6(header.ProtoTCP, tcp(s))) }

// udp4 is a UDP frame of n bytes in all.
func udp4(n int) []byte {
	return ethernet(header.TypeIPv4, ip4(header.ProtoUDP, udp(9, pattern(n-42))))
}

// vxlan4 carries an Ethernet frame in VXLAN over IPv4.
func vxlan4(frame []byte) []byte {
	inside := append([]byte{8, 0, 0, 0, 0, 0, 42, 0}, frame...)
	return ethernet(header.TypeIPv4, ip4(header.ProtoUDP, udp(header.PortVXLAN, inside)))
}
