// Package explain says of each frame of a capture what the receive path sees:
// how long the headers are, where they lie, and what GRO does with the frame
// and why.
//
//	capture.Reader -> poll of up to 64 frames -> header.Length, header.Parse
//	                                          -> gro.Merger -> a line a frame,
//	                                             or a line a packet that comes out
//
// A poll copies its frames, since the Reader lends each until the next one and
// the Merger until the end of the poll.
//
// The trap: GRO depends on where a poll begins and ends. Real polls end when
// the queue is empty; here they end after 64 frames, or where the caller says.
package explain
