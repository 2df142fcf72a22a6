package nic

import "encoding/binary"

// KeyBytes is the length of an RSS key.
const KeyBytes = 40

// MicrosoftKey is the RSS key of Microsoft's verification suite, which most
// drivers use.
var MicrosoftKey = [KeyBytes]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
	0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
	0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
	0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
	0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// A toeplitz is the Toeplitz hash with its key worked in: the hash is linear,
// so each half byte of the input contributes a fixed word.
type toeplitz [KeyBytes - 4][2][16]uint32

func newToeplitz(key [KeyBytes]byte) *toeplitz {
	t := new(toeplitz)
	for i := range t {
		// The 32 key bits under input bit k of byte i begin at 8i+k.
		window := uint64(binary.BigEndian.Uint32(key[i:]))<<8 | uint64(key[i+4])
		for k := range 8 {
			for v := range 16 {
				if v>>(3-k%4)&1 != 0 {
					t[i][k/4][v] ^= uint32(window >> (8 - k))
				}
			}
		}
	}
	return t
}

// add hashes in, which stands at byte at of the input: 8 or 32 bytes of
// addresses, then 4 of ports. Budget: 1 ns a byte.
func (t *toeplitz) add(h uint32, at int, in []byte) uint32 {
	rows := t[at:]
	rows = rows[:len(in)]
	for i, b := range in {
		h ^= rows[i][0][b>>4] ^ rows[i][1][b&15]
	}
	return h
}
