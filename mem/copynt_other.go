//go:build !amd64 || purego

package mem

// CopyNT is copy on this architecture: it has no store past the caches that
// is more than a hint.
func CopyNT(dst, src []byte) int { return copy(dst, src) }

// Fence does nothing on this architecture, where CopyNT needs none.
func Fence() {}
