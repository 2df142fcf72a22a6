// Package cpu holds what depends on the processor: the size of a cache line,
// instruction sets found at start, and the time stamp counter.
//
//	TSC ... work ... TSC    the difference, over PerSecond, is the time
//
// Nobody owns anything here: all of it is constant once the program runs,
// but for the counter itself.
//
// The trap: the counter of one core need not agree with that of another, and
// reading it does not wait for the instructions in front of it. It measures
// batches of work on one thread, not single instructions.
package cpu
