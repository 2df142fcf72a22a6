// Package check compiles assertions in or out. With -tags check a buffer that
// was given back is filled with Poison and its next use is caught; without the
// tag On is a constant false and what stands behind it costs nothing.
package check

import "fmt"

// Poison fills memory that nobody owns.
const Poison = 0xCC

// That panics with the message when ok is false. Call it behind On, so that
// the arguments cost nothing in a plain build.
func That(ok bool, format string, args ...any) {
	if !ok {
		panic("check: " + fmt.Sprintf(format, args...))
	}
}

// Fill poisons b, doubling what is filled.
func Fill(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = Poison
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
