// Package rr is request and response in uperf's terms, and a flood: the two
// ends of TCP connections around the queues that are measured.
//
//	Client --request--> device -> rx -> gro -> Server.Answer -> tx -+
//	  ^ checks every byte                                           |
//	  +---------------------- cable <- device <---------------------+
//
//	Flood.Fill -> tx -> device -> cable -> Sink, which checks every byte
//
// A Client is the wire of a device and runs in the device's time. It has one
// transaction outstanding on each connection. Server and Flood belong to the
// driver. They make segments as Linux does: headers in a small head of their
// own slab, payload copied to a fragment of the socket's page. That page is
// mapped for nobody, so head and payload are two mappings of the send queue.
// Host.Free takes the packets that were sent.
//
// The trap: nothing is retransmitted. A frame that is lost or wrong ends the
// measurement: Err says which.
package rr
