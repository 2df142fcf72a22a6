package gso

import "github.com/millrace-net/millrace/checksum"

// copySumGeneric copies src to dst, which are equally long and do not overlap,
// and returns the folded sum of the bytes. It is the reference of copySum,
// which does both in one pass where that is faster.
func copySumGeneric(dst, src []byte) uint16 {
	copy(dst, src)
	return checksum.Sum(dst)
}
