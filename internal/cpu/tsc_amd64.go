//go:build !purego

package cpu

// The rate is not told by the processors in use (CPUID leaf 15H is empty on
// AMD and under most hypervisors).
func ticksPerSecond() uint64 { return measure() }
