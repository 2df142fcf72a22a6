// Package report says what a run did: as a table for people, as one JSON
// object for programs, and while it lasts as a few live lines.
//
//	port.Stats --+--> Live (twice a second)
//	             +--> New -> Report -> Table, JSON
//
// A Report is a value; nothing of the port is kept in it. Rates name their
// layer: L2 counts the bytes of a frame from its link header on, without frame
// check sequence; wire adds what Ethernet puts around them. Numbers in JSON
// have their unit in the name. Nanoseconds are per frame on the wire, not per
// merged packet.
//
// The trap: a report compares counters of the device, the queues, GRO and the
// loop, which run apart. They agree only behind Run, when nothing moves.
package report
