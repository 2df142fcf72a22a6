package checksum

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// page is bytes with canaries around [from, to): reading them would show in
// the sum, writing them in intact.
func page(from, to int, fill func(i int) byte) (whole, b []byte) {
	whole = bytes.Repeat([]byte{0xa5}, to+64)
	b = whole[from:to:to]
	for i := range b {
		b[i] = fill(i)
	}
	return whole, b
}

// TestEveryAlignment: all routines equal the definition at every alignment
// within a vector, and every length up to 300.
func TestEveryAlignment(t *testing.T) {
	rng := testenv.Rand(testenv.Seed(t), 0)
	fills := []func(int) byte{
		func(int) byte { return byte(rng.Uint32()) },
		func(int) byte { return 0xff },
	}
	for _, fill := range fills {
		for from := range 33 {
			for n := range 301 {
				whole, b := page(from, from+n, fill)
				before := bytes.Clone(whole)
				want := naive(b)
				if got := Sum(b); got != want {
					t.Fatalf("Sum at %d, %d bytes: %#04x, want %#04x", from, n, got, want)
				}
				if got := Fold(sumGeneric(0, b)); got != want {
					t.Fatalf("sumGeneric at %d, %d bytes: %#04x, want %#04x", from, n, got, want)
				}
				for name, f := range assembly() {
					if n < 64 {
						continue
					}
					if got := Fold(f(b)); got != want {
						t.Fatalf("%s at %d, %d bytes: %#04x, want %#04x", name, from, n, got, want)
					}
				}
				if !bytes.Equal(whole, before) {
					t.Fatalf("bytes changed: at %d, %d bytes", from, n)
				}
			}
		}
	}
}

// TestLong: lanes do not overflow in runs far above a packet.
func TestLong(t *testing.T) {
	for _, fill := range []byte{0xff, 0x80, 0x01} {
		b := bytes.Repeat([]byte{fill}, 1<<22+3)
		if got, want := Sum(b), naive(b); got != want {
			t.Errorf("bytes %#02x: %#04x, want %#04x", fill, got, want)
		}
	}
}

func FuzzSum(f *testing.F) {
	f.Add([]byte{}, uint8(0), uint64(0))
	f.Add([]byte("\x00\x01\xf2\x03\xf4\xf5\xf6\xf7"), uint8(1), ^uint64(0))
	f.Add(bytes.Repeat([]byte{0xff}, 256), uint8(3), uint64(1))
	f.Add(bytes.Repeat([]byte{0xff, 0, 0x80}, 500), uint8(31), uint64(0xffff))
	f.Fuzz(func(t *testing.T, data []byte, shift uint8, sum uint64) {
		from := int(shift % 64)
		_, b := page(from, from+len(data), func(i int) byte { return data[i] })
		want := Combine(Fold(sum), naive(b), false)
		if got := Fold(Update(sum, b)); got != want {
			t.Errorf("Update: %#04x, want %#04x", got, want)
		}
		if got := Fold(sumGeneric(sum, b)); got != want {
			t.Errorf("sumGeneric: %#04x, want %#04x", got, want)
		}
		cut := int(shift) % (len(b) + 1)
		if got := Combine(Sum(b[:cut]), Sum(b[cut:]), cut%2 == 1); got != naive(b) {
			t.Errorf("cut at %d: %#04x, want %#04x", cut, got, naive(b))
		}
	})
}

var sink uint64

// BenchmarkRoutines holds the assembly against the reference: it stays only
// while it wins by half at 1408 bytes, and sets the length it takes over.
func BenchmarkRoutines(b *testing.B) {
	buf := make([]byte, 2048)
	for _, n := range []int{128, 192, 256, 320, 512, 1408} {
		for name, f := range assembly() {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					sink = f(buf[:n])
				}
				b.SetBytes(int64(n))
			})
		}
		b.Run(fmt.Sprintf("generic/%d", n), func(b *testing.B) {
			for b.Loop() {
				sink = sumGeneric(0, buf[:n])
			}
			b.SetBytes(int64(n))
		})
	}
}

// BenchmarkSum is what callers get, aligned and as behind Ethernet, IPv4 and
// TCP.
func BenchmarkSum(b *testing.B) {
	buf := make([]byte, 65536)
	for _, n := range []int{8, 20, 40, 64, 512, 1460, 65000} {
		for _, off := range []int{0, 54} {
			b.Run(fmt.Sprintf("%d/at%d", n, off), func(b *testing.B) {
				for b.Loop() {
					sink = uint64(Sum(buf[off : off+n]))
				}
				b.SetBytes(int64(n))
			})
		}
	}
}
