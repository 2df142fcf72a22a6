//go:build (amd64 || arm64) && !purego

package mem

import "unsafe"

// Prefetch asks for the cache lines of a, b and c, of the addresses step bytes
// behind these three, and of d and e: to be read or written soon. It does not
// wait for them. An address is a hint and never faults, so it needs no check;
// but for one that is not mapped the processor walks the page table anew each
// time, some 70 ns. Who has fewer gives one twice, and step 0.
//
//go:noescape
func Prefetch(a, b, c, d, e unsafe.Pointer, step uintptr)
