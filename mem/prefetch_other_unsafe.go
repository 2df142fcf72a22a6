//go:build !(amd64 || arm64) || purego

package mem

import "unsafe"

// Prefetch does nothing on this architecture.
func Prefetch(a, b, c, d, e unsafe.Pointer, step uintptr) {}
