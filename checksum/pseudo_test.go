package checksum

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

func TestPseudo(t *testing.T) {
	rng := testenv.Rand(testenv.Seed(t), 0)
	for _, length := range []int{0, 8, 1460, 65535, 65536, 200_000} {
		var h [40]byte
		for i := range 32 {
			h[i] = byte(rng.Uint32())
		}
		binary.BigEndian.PutUint32(h[32:], uint32(length))
		h[39] = 6
		if got, want := Pseudo6(h[:16], h[16:32], 6, length), naive(h[:]); got != want {
			t.Errorf("IPv6, length %d: %#04x, want %#04x", length, got, want)
		}
		var v4 [14]byte
		copy(v4[:8], h[:])
		v4[9] = 17
		binary.BigEndian.PutUint32(v4[10:], uint32(length))
		if got, want := Pseudo4(v4[:4], v4[4:8], 17, length), naive(v4[:]); got != want {
			t.Errorf("IPv4, length %d: %#04x, want %#04x", length, got, want)
		}
	}
}

// Pseudo finds the addresses in headers of both versions.
func TestPseudoOfHeader(t *testing.T) {
	rng := testenv.Rand(testenv.Seed(t), 0)
	var ip [40]byte
	for i := range ip {
		ip[i] = byte(rng.Uint32())
	}
	ip[0] = 0x45
	if got, want := Pseudo(ip[:20], 6, 99), Pseudo4(ip[12:16], ip[16:20], 6, 99); got != want {
		t.Errorf("IPv4: %#04x, want %#04x", got, want)
	}
	ip[0] = 0x60
	if got, want := Pseudo(ip[:], 17, 99), Pseudo6(ip[8:24], ip[24:40], 17, 99); got != want {
		t.Errorf("IPv6: %#04x, want %#04x", got, want)
	}
}

// TestPseudoOfOnes: every word 0xffff, the most carries there are.
func TestPseudoOfOnes(t *testing.T) {
	a := []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	if got := Pseudo6(a, a, 0, 0); got != 0xffff {
		t.Errorf("IPv6: %#04x", got)
	}
	if got := Pseudo4(a[:4], a[:4], 255, 65535); got != 255 {
		t.Errorf("IPv4: %#04x, want 0x00ff", got)
	}
}

// TestUDPDatagram: the sum over a datagram with its checksum is 0xffff.
func TestUDPDatagram(t *testing.T) {
	src, dst := []byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}
	udp := []byte{0x04, 0x00, 0x00, 0x35, 0x00, 0x0b, 0, 0, 'a', 'b', 'c'}
	sum := Combine(Pseudo4(src, dst, 17, len(udp)), Sum(udp), false)
	binary.BigEndian.PutUint16(udp[6:], ^sum)
	if got := Combine(Pseudo4(src, dst, 17, 11), Sum(udp), false); got != 0xffff {
		t.Errorf("got %#04x, want 0xffff", got)
	}
}

func TestReplace(t *testing.T) {
	// RFC 1624 section 4: a header whose other words sum to 0xcd7a, and its
	// word 0x5555 becoming 0x3285. The right answer is 0, not 0xffff.
	if got := Replace16(0xdd2f, 0x5555, 0x3285); got != 0 {
		t.Errorf("RFC 1624 example: %#04x, want 0", got)
	}
	if got := Replace32(0xdd2f, 0x5555, 0x3285); got != 0 {
		t.Errorf("RFC 1624 example in 32 bits: %#04x, want 0", got)
	}
}

// TestReplaceEqualsFresh replaces words, over all corner values, and compares
// with the checksum computed anew.
func TestReplaceEqualsFresh(t *testing.T) {
	corners := []uint16{0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x1234}
	put := binary.BigEndian.PutUint16
	for _, rest := range corners {
		for _, old := range corners {
			for _, new := range corners {
				var b [8]byte
				b[7] = 1 // no packet is all zero
				put(b[0:], rest)
				put(b[2:], old)
				put(b[4:], new)
				before := ^naive(b[:])
				put(b[2:], new)
				got16 := Replace16(before, old, new)
				if want := ^naive(b[:]); got16 != want {
					t.Errorf("rest %#04x, %#04x to %#04x: %#04x, want %#04x",
						rest, old, new, got16, want)
				}
				put(b[4:], old)
				got32 := Replace32(before, uint32(old)<<16|uint32(new), uint32(new)<<16|uint32(old))
				if want := ^naive(b[:]); got32 != want {
					t.Errorf("rest %#04x, swap %#04x and %#04x: %#04x, want %#04x",
						rest, old, new, got32, want)
				}
			}
		}
	}
}
