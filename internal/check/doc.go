// Package check compiles assertions in or out. With -tags check a buffer that
// was given back is filled with Poison and its next use is caught; without the
// tag every call here is a constant false and costs nothing.
package check

import "fmt"

// Poison fills memory that nobody owns.
const Poison = 0xCC

// That panics with the message when ok is false. Call it behind check.On, so
// that the arguments cost nothing in a plain build.
func That(ok bool, format string, args ...any) {
	if !ok {
		panic("check: " + fmt.Sprintf(format, args...))
	}
}

// Fill poisons b.
func Fill(b []byte) {
	for i := range b {
		b[i] = Poison
	}
}
