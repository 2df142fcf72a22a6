package checksum

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// naive is RFC 1071 section 4.1 word by word.
func naive(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
		sum = sum>>16 + sum&0xffff
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	return uint16(sum>>16 + sum&0xffff)
}

func TestSum(t *testing.T) {
	tests := []struct {
		name string
		b    []byte
		want uint16
	}{
		{"empty", nil, 0},
		{"RFC 1071 section 3", []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}, 0xddf2},
		{"odd", []byte{0x12, 0x34, 0x56}, 0x6834},
		{"one byte", []byte{0xab}, 0xab00},
		{"zeroes", make([]byte, 1500), 0},
		{"ones", bytes.Repeat([]byte{0xff}, 1500), 0xffff},
		{"multiple of 0xffff", []byte{0xff, 0xfe, 0x00, 0x01}, 0xffff},
		{"IPv4 header with its checksum", []byte{
			0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
			0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7}, 0xffff},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sum(tt.b); got != tt.want {
				t.Errorf("got %#04x, want %#04x", got, tt.want)
			}
		})
	}
}

// TestUpdateGoesOn: RFC 1071 section 3 sums in pieces, in both byte orders.
func TestUpdateGoesOn(t *testing.T) {
	b := []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}
	for cut := 0; cut <= len(b); cut += 2 {
		if got := Fold(Update(Update(0, b[:cut]), b[cut:])); got != 0xddf2 {
			t.Errorf("cut at %d: %#04x, want 0xddf2", cut, got)
		}
	}
}

// TestUpdateCarries: a running sum near the top of its range goes around the
// end, in the long routine and the short one.
func TestUpdateCarries(t *testing.T) {
	for _, n := range []int{1, 2, 8, 15, 16, 40, 64, 300, 1460} {
		b := bytes.Repeat([]byte{0xff}, n&^1)
		if n&1 == 1 {
			b = append(b, 1)
		}
		for _, sum := range []uint64{1, 0xffff, ^uint64(0), ^uint64(0) - 1} {
			want := Combine(Fold(sum), naive(b), false)
			if got := Fold(Update(sum, b)); got != want {
				t.Errorf("%d bytes on %#x: %#04x, want %#04x", n, sum, got, want)
			}
		}
	}
}

func TestCombine(t *testing.T) {
	b := make([]byte, 301)
	rng := testenv.Rand(testenv.Seed(t), 0)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	want := naive(b)
	for cut := range len(b) + 1 {
		if got := Combine(Sum(b[:cut]), Sum(b[cut:]), cut%2 == 1); got != want {
			t.Errorf("cut at %d: %#04x, want %#04x", cut, got, want)
		}
		for second := cut; second <= len(b); second++ {
			got := Combine(Sum(b[:cut]), Sum(b[cut:second]), cut%2 == 1)
			got = Combine(got, Sum(b[second:]), second%2 == 1)
			if got != want {
				t.Fatalf("cut at %d and %d: %#04x, want %#04x", cut, second, got, want)
			}
		}
	}
}

// TestZeroHasTwoForms: 0 comes out for zero bytes only.
func TestZeroHasTwoForms(t *testing.T) {
	tests := []struct{ sum, part, want uint16 }{
		{0, 0, 0}, {0xffff, 0, 0xffff}, {0, 0xffff, 0xffff}, {0xffff, 0xffff, 0xffff},
		{1, 0xfffe, 0xffff}, {2, 0xfffe, 1}, {0x8000, 0x8000, 1},
	}
	for _, tt := range tests {
		if got := Combine(tt.sum, tt.part, false); got != tt.want {
			t.Errorf("%#04x + %#04x: %#04x, want %#04x", tt.sum, tt.part, got, tt.want)
		}
	}
	for _, sum := range []uint64{0xffff, 0xffff_ffff, ^uint64(0), 0xffff << 16, 0xffff << 48} {
		if got := Fold(sum); got != 0xffff {
			t.Errorf("Fold(%#x) = %#04x, want 0xffff", sum, got)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	b, src, dst := make([]byte, 1460), make([]byte, 16), make([]byte, 16)
	allocs := testing.AllocsPerRun(100, func() {
		s := Combine(Sum(b), Pseudo6(src, dst, 6, len(b)), false)
		sink = uint64(Replace16(^s, s, Pseudo4(src, dst, 6, len(b))))
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
