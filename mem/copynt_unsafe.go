//go:build amd64 && !purego

package mem

import "unsafe"

const line = 64

// CopyNT copies src to the start of dst, as copy does, past the caches: the
// next reader of dst misses in all of them, as after a device without cache
// injection. The bytes may be seen late and out of order by other threads;
// Fence comes before the store that publishes them. Elsewhere than on amd64
// it is an ordinary copy. dst and src do not overlap.
func CopyNT(dst, src []byte) int {
	n := min(len(dst), len(src))
	// Whole lines are stored past the caches. The parts of a line at both
	// ends are copied and then flushed with the rest of their line.
	misaligned := uintptr(unsafe.Pointer(unsafe.SliceData(dst))) % line
	head := min(int(-misaligned%line), n)
	body := head + (n-head)&^(line-1)
	if head > 0 {
		copy(dst[:head], src[:head])
		flush(&dst[0])
	}
	if head < body {
		copyLines(dst[head:body], src[head:body])
	}
	if body < n {
		copy(dst[body:n], src[body:n])
		flush(&dst[body])
	}
	return n
}

// copyLines copies src to dst with non-temporal stores. dst begins on a line;
// both have the same length, a multiple of a line and not 0.
//
//go:noescape
func copyLines(dst, src []byte)

// flush writes the line that holds p to memory and out of all caches.
//
//go:noescape
func flush(p *byte)

// Fence orders the stores of CopyNT before all later ones.
func Fence()
