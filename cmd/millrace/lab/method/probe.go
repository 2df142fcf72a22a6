package method

import (
	"fmt"
	"slices"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/internal/cpu"
)

// A Probe accompanies one measurement.
type Probe struct {
	Seed uint64 // of the round
	CPU  int    // that the thread is pinned to; -1: none
	laps []uint64
}

// mostLaps is how many laps of a measurement are looked at.
const mostLaps = 1 << 16

// Begin ends the warm-up: laps before it do not count.
func (p *Probe) Begin() { p.laps = p.laps[:0] }

// Lap notes the ticks of one interval of timed work. Laps of a measurement are
// alike: one that is far longer than the others was interrupted.
func (p *Probe) Lap(ticks uint64) {
	if len(p.laps) < cap(p.laps) {
		p.laps = append(p.laps, ticks)
	}
}

// A sample is one measurement.
type sample struct {
	values    result.Values
	disturbed string // by what; "": by nothing
	clock     uint64 // ticks of a fixed piece of work
}

// Limits of a measurement that counts.
const (
	maxLost     = 0.01 // part of the timed work in which the thread was off its CPU
	maxSwitches = 2    // times that another thread took the CPU
	maxDrift    = 0.03 // change of the clock
)

// measure runs a variant once and looks at what else happened.
func measure(v *Variant, seed uint64, cpuNumber int) (s sample, err error) {
	p := &Probe{Seed: seed, CPU: cpuNumber, laps: make([]uint64, 0, mostLaps)}
	before := look(cpuNumber)
	clock := spin()
	if s.values, err = v.Measure(p); err != nil {
		return s, err
	}
	s.clock = spin()
	after := look(cpuNumber)
	s.disturbed = p.disturbed(after.since(before))
	if s.disturbed == "" {
		s.disturbed = drifted(clock, s.clock)
	}
	s.clock = min(s.clock, clock)
	return s, nil
}

// disturbed says what, apart from the clock, makes the measurement invalid.
// The word in front of the colon is the kind.
func (p *Probe) disturbed(u usage) string {
	lost, total := lostTicks(p.laps)
	switch {
	case u.stealMs > 0:
		return fmt.Sprintf("steal: the hypervisor took the CPU for %d ms", u.stealMs)
	case u.switches > maxSwitches:
		return fmt.Sprintf("another load: it took the CPU %d times", u.switches)
	case float64(lost) > maxLost*float64(total):
		return fmt.Sprintf("lost ticks: %.0f of %.0f us were not spent on the work",
			cpu.Nanoseconds(lost)/1000, cpu.Nanoseconds(total)/1000)
	}
	return ""
}

// lostTicks is what laps are longer than four times the median one, in all,
// where that is more than an interrupt takes.
func lostTicks(laps []uint64) (lost, total uint64) {
	if len(laps) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(laps))
	limit := 4*sorted[len(sorted)/2] + cpu.PerSecond()/50000 // 20 us
	for _, t := range laps {
		total += t
		if t > limit {
			lost += t - limit/4
		}
	}
	return lost, total
}

// drifted says that a fixed piece of work took a different number of ticks.
func drifted(a, b uint64) string {
	if a > b {
		a, b = b, a
	}
	if change := float64(b)/float64(a) - 1; change > maxDrift {
		return fmt.Sprintf("clock: it changed by %.1f %%", 100*change)
	}
	return ""
}

var spun uint64

// spin is the ticks of a chain of multiplications, the best of five: it
// depends on the clock of the core and on nothing else.
func spin() uint64 {
	best := ^uint64(0)
	for range 5 {
		start, x := cpu.TSC(), spun|1
		for range 10000 {
			x = x*3 + 1
		}
		best = min(best, cpu.TSC()-start)
		spun = x
	}
	return best
}
