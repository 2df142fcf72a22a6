//go:build check

package check

// On tells whether assertions are compiled in (-tags check).
const On = true
