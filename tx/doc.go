// Package tx is the driver side of a send queue: it chooses how each packet
// reaches the device, writes WQEs, and gives home what the device has sent.
//
//	Batch -> Post: examine -> cut in software -> buffers -+
//	                 |                                    v
//	                 +--> inline, premapped, linearized   WQEs --Flush--> device
//	                 +--> mapped head and fragments ------^                 |
//	free <- Reap: unmap, buffers back, wake <------- completions -----------+
//
// A Queue belongs to the goroutine that polls it. Post takes packets; each goes
// to the function that Serve was given for its slab exactly once: in Post, when
// it was refused or all of its bytes were copied, else in Reap, when the device
// has done its WQE or the queue started over.
//
//	Posted = Done + Lost + InFlight        maps = unmaps when it is closed
//
// Nothing is lost because a ring is full: Post leaves what does not fit in the
// batch, and the queue is stopped until Reap has made room. What the device
// cannot do, package gso does, into premapped buffers.
//
// The trap: a packet that is mapped belongs to the device until it is home, and
// so do its pages. One that was copied does not, so that a packet may be home
// long before its bytes are on the wire.
package tx
