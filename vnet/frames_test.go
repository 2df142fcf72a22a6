package vnet

import (
	"encoding/binary"
	"slices"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

var (
	be     = binary.BigEndian
	addrs4 = []byte{10, 0, 0, 1, 10, 0, 0, 2}
	addrs6 = []byte{0: 0xfd, 15: 1, 16: 0xfd, 31: 2}
	macs   = []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
)

// tcp4 is an Ethernet frame with TCP over IPv4, n bytes of payload, and the
// pseudo header's sum in the checksum field.
func tcp4(n int, flags byte, id uint16) []byte {
	return ip4(header.ProtoTCP, tcp(n, flags), id)
}

func tcp6(n int, flags byte, ext ...byte) []byte {
	return ip6(header.ProtoTCP, tcp(n, flags), ext...)
}

func udp4(n int, id uint16) []byte { return ip4(header.ProtoUDP, udp(n), id) }

func tcp(n int, flags byte) []byte {
	h := []byte{0, 1, 0, 2, 0, 0, 3, 232, 0, 0, 0, 1, 0x50, flags, 3, 232, 0, 0, 0, 0}
	return append(h, slices.Repeat([]byte{'a'}, n)...)
}

func udp(n int) []byte {
	h := []byte{0, 1, 0, 2, 0, 0, 0, 0}
	be.PutUint16(h[4:], uint16(8+n))
	return append(h, slices.Repeat([]byte{'u'}, n)...)
}

func ip4(proto byte, l4 []byte, id uint16) []byte {
	h := slices.Concat([]byte{0x45, 9: proto, 11: 0}, addrs4)
	h[6], h[8] = 0x40, 64
	be.PutUint16(h[2:], uint16(20+len(l4)))
	be.PutUint16(h[4:], id)
	be.PutUint16(h[10:], ^checksum.Sum(h))
	seed(proto, l4, checksum.Pseudo4(addrs4[:4], addrs4[4:], proto, len(l4)))
	return slices.Concat(macs, []byte{8, 0}, h, l4)
}

// ip6 puts extension headers that begin at ext in front of l4; the first is a
// hop-by-hop header.
func ip6(proto byte, l4 []byte, ext ...byte) []byte {
	h := slices.Concat([]byte{0x60, 6: proto, 7: 64}, addrs6, ext)
	if len(ext) > 0 {
		h[6] = header.ProtoHopByHop
	}
	be.PutUint16(h[4:], uint16(len(ext)+len(l4)))
	seed(proto, l4, checksum.Pseudo6(addrs6[:16], addrs6[16:], proto, len(l4)))
	return slices.Concat(macs, []byte{0x86, 0xdd}, h, l4)
}

// seed stores a partial checksum.
func seed(proto byte, l4 []byte, sum uint16) {
	switch proto {
	case header.ProtoTCP:
		be.PutUint16(l4[16:], sum)
	case header.ProtoUDP:
		be.PutUint16(l4[6:], sum)
	}
}

// hdr makes a Header as a driver would write it.
func hdr(flags, gsoType uint8, size, start, offset, hdrLen int) (h Header) {
	h.SetFlags(flags)
	h.SetGSOType(gsoType)
	h.SetHdrLen(uint16(hdrLen))
	h.SetGSOSize(uint16(size))
	h.SetCSumStart(uint16(start))
	h.SetCSumOffset(uint16(offset))
	return h
}
