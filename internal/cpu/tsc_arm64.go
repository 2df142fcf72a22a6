//go:build !purego

package cpu

func ticksPerSecond() uint64 { return uint64(frequency()) }

// frequency is CNTFRQ_EL0, the rate that firmware set.
//
//go:noescape
func frequency() uint64
