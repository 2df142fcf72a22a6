// Package sendring is the driver's end of a send queue: what package tx and the
// send queue of package xdp have in common.
//
//	Room, Commit     write a WQE at pc
//	Flush            ask for one completion, ring the doorbell
//	Poll             read completions: the device has done all before done
//	Next             take the WQEs in [cc, done) off the ring, oldest first
//
//	cc <= done <= rung <= pc        counters in blocks, run freely
//
// The owner of the queue keeps what a WQE holds (packets, pages, mappings) in an
// array beside the ring, by the slot that the WQE begins at; Next tells it when
// to give that back. Padding is the ring's own business and never shows.
//
// The device is not trusted: a completion that names no WQE it was given breaks
// the ring, as an error completion and a state of Error do. A broken ring takes
// nothing until its owner has stopped it, taken home with Next what was lost,
// and started it again.
//
// The trap: blocks between Commit and Next are the device's, although nothing
// keeps their owner from writing to them.
package sendring
