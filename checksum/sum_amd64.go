//go:build !purego

package checksum

import (
	"math/bits"

	"github.com/millrace-net/millrace/internal/cpu"
)

// vectorMin is the length in bytes from which sumAVX2, with its 8 ns of call
// and reduction, beats sumGeneric (BenchmarkRoutines).
const vectorMin = 320

// Update adds the bytes of b to a running sum. b starts at an even offset of
// what is summed; if its length is odd, it is the last piece.
func Update(sum uint64, b []byte) uint64 {
	if len(b) < vectorMin || !cpu.AVX2 {
		return sumGeneric(sum, b)
	}
	sum, carry := bits.Add64(sum, sumAVX2(b), 0)
	return sum + carry
}

// sumAVX2 is sumGeneric(0, b), but for multiples of 0xffff, in 256-bit steps.
// len(b) is at least 64; the processor has AVX2.
//
//go:noescape
func sumAVX2(b []byte) uint64
