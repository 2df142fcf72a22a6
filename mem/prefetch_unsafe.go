//go:build (amd64 || arm64) && !purego

package mem

import "unsafe"

// Prefetch4 asks for the cache lines of four addresses, to be read or written
// soon, and does not wait for them. An address is a hint: nil, or one that is
// not mapped, is ignored by the processor and never faults, so it needs no
// check.
//
//go:noescape
func Prefetch4(a, b, c, d unsafe.Pointer)
