// Package rx is the driver side of a receive queue: it posts buffers, harvests
// completions and makes packets of them.
//
//	device --bytes--> strides of a WQE's pages --------\
//	device --CQE----> harvest -> sync -> build --> packet.Batch --> handler
//	   ^                                                              |
//	   +---- refill <-- pagepool <-- last reference <---- Free -------+
//
// A Queue belongs to the goroutine that polls it. Poll gives packets to the
// caller's batch; the caller owns them until Free takes the batch back. A page
// belongs to the pool; the ring holds Bias references on it and counts those
// that it hands to packets, so that one Put settles the page when the same
// ring index is filled again.
//
// A linear packet is the buffer that the device wrote, with the SharedInfo
// behind the frame. Where a frame does not fit a stride the packet is a small
// head with the headers, copied, and the payload as page fragments.
//
// The trap: the device is not trusted. Every field of a completion is read
// once into a local and checked against what was posted before it is used.
package rx
