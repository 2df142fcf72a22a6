package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Pseudo4 is the folded sum of the pseudo header of TCP or UDP over IPv4
// (RFC 9293 section 3.1, RFC 768). src and dst have 4 bytes; length counts
// transport header and payload.
func Pseudo4(src, dst []byte, proto uint8, length int) uint16 {
	s := uint64(binary.BigEndian.Uint32(src)) + uint64(binary.BigEndian.Uint32(dst))
	return fold(s + uint64(proto) + uint64(uint32(length)))
}

// Pseudo6 is the folded sum of the pseudo header over IPv6 (RFC 8200 section
// 8.1). src and dst have 16 bytes; length counts transport header and
// payload.
func Pseudo6(src, dst []byte, proto uint8, length int) uint16 {
	s, c := bits.Add64(binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:]), 0)
	s, c = bits.Add64(s, binary.BigEndian.Uint64(dst), c)
	s, c = bits.Add64(s, binary.BigEndian.Uint64(dst[8:]), c)
	s, c = bits.Add64(s, uint64(proto)+uint64(uint32(length)), c)
	return fold(s + c)
}

// Pseudo is the same for the packet whose IP header, of either version, begins
// ip. The caller has checked that all of that header is there.
func Pseudo(ip []byte, proto uint8, length int) uint16 {
	if ip[0]>>4 == 4 {
		h := (*[20]byte)(ip)
		return Pseudo4(h[12:16], h[16:20], proto, length)
	}
	h := (*[40]byte)(ip)
	return Pseudo6(h[8:24], h[24:40], proto, length)
}

// Replace16 is the checksum field check after one 16-bit word of the data at
// an even offset changed from old to new: equation 3 of RFC 1624, whose
// result is 0 and not 0xffff where a fresh computation gives 0.
func Replace16(check, old, new uint16) uint16 {
	return ^fold(uint64(^check) + uint64(^old) + uint64(new))
}

// Replace32 does the same for two words in a row, for example an address.
func Replace32(check uint16, old, new uint32) uint16 {
	return ^fold(uint64(^check) + uint64(^old) + uint64(new))
}
