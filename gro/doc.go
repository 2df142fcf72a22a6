// Package gro merges TCP segments, and on request UDP datagrams, of one flow
// into large packets, by the rules of Linux 6.18 (docs/gro.md), so that what is
// above them works once for many. A merged packet says how it is cut again;
// package gso does it, and gives back the same bytes.
//
//	packets, frames             held, by flow                      out
//	     |                 [first headers, what must follow]        ^
//	     +-- goes on with one? --- merged into it ---ended?---------+
//	     |                                           poll end, age --+
//	     +-- of the same flow, but not: --- that one completed ------+
//	     |                                  then held, or passed ----+
//	     +-- first of its flow: held, or passed ---------------------+
//
// One engine decides, by header bytes and lengths alone. It has two front ends.
// A Table takes packet.Packet of one queue and moves their memory: page slices
// and fragments become fragments of the first packet, the rest is chained. A
// Merger borrows plain slices and lends back headers of its own with the
// payload slices as they came; it needs nothing else of Millrace. A Table and a
// Merger belong to one goroutine each.
//
// Within a flow, which is the innermost addresses, protocol and ports, order is
// that of arrival: a packet that is not merged lets the held one go first.
//
// The trap: a merged packet's transport checksum is not yet filled in. It is
// the sum of the pseudo header, and CSum says CSumPartial.
package gro
