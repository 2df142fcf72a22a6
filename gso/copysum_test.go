package gso

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// checkCopySum compares copySum with its reference, at a place of its own in
// buffers whose other bytes it must leave alone.
func checkCopySum(t *testing.T, data []byte, dstOff, srcOff int) {
	t.Helper()
	n := len(data)
	canary := bytes.Repeat([]byte{0xa5}, 64)
	src := append(bytes.Clone(canary[:srcOff]), data...)
	want := make([]byte, n)
	dst := bytes.Repeat([]byte{0xa5}, dstOff+n+64)
	got := copySum(dst[dstOff:dstOff+n], src[srcOff:])
	if sum := copySumGeneric(want, data); got != sum {
		t.Fatalf("%d bytes, to offset %d: sum %#x, want %#x", n, dstOff, got, sum)
	}
	if !bytes.Equal(dst[dstOff:dstOff+n], data) {
		t.Fatalf("%d bytes, to offset %d: not copied", n, dstOff)
	}
	if !bytes.HasPrefix(canary, dst[:dstOff]) || !bytes.Equal(dst[dstOff+n:], canary) {
		t.Fatalf("%d bytes, to offset %d: others were written", n, dstOff)
	}
}

func TestCopySum(t *testing.T) {
	rnd := testenv.Rand(testenv.Seed(t), 0)
	data := random(rnd, 65535)
	for n := range 600 {
		for _, off := range []int{0, 1, 2, 14, 31, n % 33} {
			checkCopySum(t, data[n:2*n], off, (n+off)%64)
		}
	}
	for _, fill := range []byte{0, 0xff, 0x80, 0x7f} {
		for _, n := range []int{256, 1448, 8948, 65534, 65535} {
			checkCopySum(t, bytes.Repeat([]byte{fill}, n), n%32, 0)
		}
	}
}

func FuzzCopySum(f *testing.F) {
	f.Add(uint8(0), []byte("short"))
	f.Add(uint8(14), bytes.Repeat([]byte{0xff, 0x80, 1}, 500))
	f.Fuzz(func(t *testing.T, off uint8, data []byte) {
		checkCopySum(t, data, int(off)%64, int(off)/4)
	})
}

// In one pass against two, over 44 buffers as Cut fills them.
func BenchmarkCopySum(b *testing.B) {
	for _, n := range []int{128, 256, 536, 1448, 8948} {
		src := random(testenv.Rand(1, 2), 44*n)
		dst, _ := buffers(44, n+66)
		run := func(f func(dst, src []byte) uint16) func(*testing.B) {
			return func(b *testing.B) {
				var sum uint16
				for b.Loop() {
					for i, d := range dst {
						sum += f(d[66:], src[i*n:(i+1)*n])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/seg")
			}
		}
		b.Run(fmt.Sprintf("generic/%d", n), run(copySumGeneric))
		b.Run(fmt.Sprintf("one pass/%d", n), run(copySum))
	}
}
