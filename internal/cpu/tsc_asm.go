//go:build (amd64 || arm64) && !purego

package cpu

// TSC reads the counter: RDTSC on amd64, CNTVCT_EL0 on arm64, nanoseconds of
// the monotonic clock elsewhere.
//
//go:noescape
func TSC() uint64
