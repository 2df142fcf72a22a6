//go:build !(amd64 || arm64) || purego

package mem

import "unsafe"

// Prefetch4 does nothing on this architecture.
func Prefetch4(a, b, c, d unsafe.Pointer) {}
