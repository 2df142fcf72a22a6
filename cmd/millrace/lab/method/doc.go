// Package method measures variants against their baseline.
//
//	round 0:  A  B  C     seed 0     Probe: laps -> lost time
//	round 1:  C  B  A     seed 1            switches, steal, clock
//	round 2:  A  B  C     seed 2     -> values, and what disturbed them
//
// All variants of a Group run in every round, in alternating order, on the same
// seed; the number of rounds is fixed before the first. The calling thread owns
// everything: it is locked, pinned where that is wished, and the collector is
// off while it measures. A round in front of the first warms up and counts for
// nothing.
//
// A measurement that another load, the hypervisor or the clock disturbed is
// kept and marked with the reason, never repeated until it looks better.
//
// The trap: only time handed to Probe.Lap is guarded. What a subject times
// otherwise may contain an interruption.
package method
