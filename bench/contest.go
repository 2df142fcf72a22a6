package main

import (
	"runtime"
	"slices"
	"time"
)

// A contest is one piece of work, done by us and by peers.
type contest struct {
	work    string
	unit    string   // what nanoseconds are counted for
	entries []*entry // ours first
}

// An entry is one way to do the work.
type entry struct {
	who    string
	sums   string // who verifies or computes checksums
	copies string // who copies payload
	units  int    // units of work in one run
	// Of Go: prepare is not timed; run does the work and returns how many
	// packets came out, where that is a number.
	prepare func()
	run     func() int
	ask     string // of DPDK: the request instead

	times  []float64 // ns of each run in a round
	ns     []float64 // a unit, for each round; none: the peer is not there
	allocs float64   // a unit
	out    int       // 0: not a number of packets
}

// sample is how long an entry runs in a round. The median of its runs counts,
// so that one in which the machine did something else does not.
const sample = time.Millisecond

// round measures every entry once.
func (c *contest) round(peer *dpdk) {
	for _, e := range c.entries {
		if ns, ok := e.measure(peer); ok {
			e.ns = append(e.ns, ns)
		}
	}
}

// warmUp runs every entry and counts its allocations.
func (c *contest) warmUp(peer *dpdk) {
	for _, e := range c.entries {
		e.measure(peer)
		if e.run == nil {
			continue
		}
		var before, after runtime.MemStats
		e.prepared()
		runtime.ReadMemStats(&before)
		e.run()
		runtime.ReadMemStats(&after)
		e.allocs = float64(after.Mallocs-before.Mallocs) / float64(e.units)
	}
}

func (e *entry) prepared() {
	if e.prepare != nil {
		e.prepare()
	}
}

// measure returns nanoseconds a unit.
func (e *entry) measure(peer *dpdk) (ns float64, ok bool) {
	if e.run == nil {
		ns, e.out, ok = peer.ask(e.ask)
		return ns, ok
	}
	e.times = e.times[:0]
	for begin := time.Now(); time.Since(begin) < sample || len(e.times) < 5; {
		e.prepared()
		start := time.Now()
		e.out = e.run()
		e.times = append(e.times, float64(time.Since(start)-clock))
	}
	return median(e.times) / float64(e.units), true
}

// clock is what reading the time twice takes, and is taken off every sample.
var clock = func() time.Duration {
	least := time.Hour
	for range 1000 {
		start := time.Now()
		least = min(least, time.Since(start))
	}
	return least
}()

// ratio is the median of how many times longer than us e took, round by round.
func (e *entry) ratio(us *entry) float64 {
	r := make([]float64, min(len(e.ns), len(us.ns)))
	for i := range r {
		r[i] = e.ns[i] / us.ns[i]
	}
	return median(r)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

// spread is the distance between the quartiles, in percent of the median.
func spread(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)*3/4] - v[len(v)/4]) / median(v) * 100
}
