package cpu

import (
	"testing"
	"time"
)

// TestTSCRunsWithTheClock: 30 ms by the counter are 30 ms by the clock, to
// 2 % (a virtual machine may be stopped between two readings).
func TestTSCRunsWithTheClock(t *testing.T) {
	PerSecond() // calibrate first
	var ratio float64
	for range 5 {
		clock, ticks := time.Now(), TSC()
		time.Sleep(30 * time.Millisecond)
		got := Nanoseconds(TSC() - ticks)
		ratio = got / float64(time.Since(clock))
		if ratio > 0.98 && ratio < 1.02 {
			return
		}
	}
	t.Fatalf("counter runs at %.3f of the clock", ratio)
}

func TestTSCGoesForward(t *testing.T) {
	last := TSC()
	for range 1000 {
		next := TSC()
		if next < last {
			t.Fatalf("%d after %d", next, last)
		}
		last = next
	}
}

func BenchmarkTSC(b *testing.B) {
	for b.Loop() {
		TSC()
	}
}
