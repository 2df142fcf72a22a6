package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Fold reduces a running sum to 16 bits in network byte order. It is not
// complemented.
func Fold(sum uint64) uint16 { return bits.ReverseBytes16(fold(sum)) }

// fold adds the four 16-bit parts of sum with end-around carry: x plus x
// rotated by half has in its upper half both halves and their carry.
func fold(sum uint64) uint16 {
	sum += bits.RotateLeft64(sum, 32)
	half := uint32(sum >> 32)
	half += bits.RotateLeft32(half, 16)
	return uint16(half >> 16)
}

// Sum is the folded sum of b, not complemented. An odd length is padded with
// a zero byte.
func Sum(b []byte) uint16 {
	if len(b) < 128 {
		return Fold(sumGeneric(0, b)) // one call less, for headers
	}
	return Fold(Update(0, b))
}

// Combine adds to sum the folded sum of the fragment that follows. odd tells
// that the fragment starts at an odd offset from where sum started, which
// swaps its bytes (RFC 1071 section 2 B).
func Combine(sum, part uint16, odd bool) uint16 {
	if odd {
		part = bits.ReverseBytes16(part)
	}
	s, carry := bits.Add32(uint32(sum)<<16, uint32(part)<<16, 0)
	return uint16(s>>16) + uint16(carry)
}

// sumGeneric is the reference of all other routines. Words are read
// little-endian on every machine: the sum of swapped words is the swapped
// sum (RFC 1071 section 2 B), and Fold swaps once.
func sumGeneric(sum uint64, b []byte) uint64 {
	var c uint64
	for ; len(b) >= 64; b = b[64:] {
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[0:]), 0)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[8:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[16:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[24:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[32:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[40:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[48:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[56:]), c)
		sum += c
	}
	for ; len(b) >= 16; b = b[16:] {
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[0:]), 0)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[8:]), c)
		sum += c
	}
	if len(b) >= 8 {
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b), 0)
		sum, b = sum+c, b[8:]
	}
	sum, c = bits.Add64(sum, tail(b), 0)
	return sum + c
}

// tail sums the last 0 to 7 bytes.
func tail(b []byte) (sum uint64) {
	if len(b) >= 4 {
		sum, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
	}
	if len(b) >= 2 {
		sum, b = sum+uint64(binary.LittleEndian.Uint16(b)), b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0])
	}
	return sum
}
