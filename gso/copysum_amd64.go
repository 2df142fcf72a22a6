//go:build !purego

package gso

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/internal/cpu"
)

// vectorMin is the length in bytes from which copySumAVX2 is the faster one
// (BenchmarkCopySum).
const vectorMin = 128

func copySum(dst, src []byte) uint16 {
	if len(src) < vectorMin || !cpu.AVX2 {
		return copySumGeneric(dst, src)
	}
	return checksum.Fold(copySumAVX2(dst, src))
}

// copySumAVX2 copies src to dst and returns the running sum. Both are equally
// long, 128 bytes to 1 MiB, and do not overlap; the processor has AVX2.
//
//go:noescape
func copySumAVX2(dst, src []byte) uint64
