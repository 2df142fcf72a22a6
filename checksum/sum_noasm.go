//go:build !amd64 || purego

package checksum

// Update adds the bytes of b to a running sum. b starts at an even offset of
// what is summed; if its length is odd, it is the last piece.
func Update(sum uint64, b []byte) uint64 { return sumGeneric(sum, b) }
