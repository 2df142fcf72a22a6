package cpu

import (
	"sync"
	"time"
)

// calibration is how long PerSecond compares the counter with the clock. The
// two readings of the clock err by some 100 ns each: 1 part in 10^5 of it.
const calibration = 20 * time.Millisecond

var perSecond = sync.OnceValue(ticksPerSecond)

// PerSecond is the rate of TSC in ticks a second. The first call takes 20 ms
// to measure it where the processor does not tell.
func PerSecond() uint64 { return perSecond() }

// measure counts ticks against the monotonic clock.
func measure() uint64 {
	clock, ticks := time.Now(), TSC()
	time.Sleep(calibration)
	ticks = TSC() - ticks
	return uint64(float64(ticks) * float64(time.Second) / float64(time.Since(clock)))
}

// Nanoseconds converts a difference of two TSC readings.
func Nanoseconds(ticks uint64) float64 { return float64(ticks) * 1e9 / float64(PerSecond()) }
