// Package xdp runs a program on a received frame before it becomes a packet
// (facts/mlx5e.md 6).
//
//	rx: completion -> sync -> Buff -> Program -> Pass:     rx builds a Packet
//	                                          -> Tx:       SendQueue --> device
//	                                          -> Redirect: a Target
//	                                          -> Drop:     the stride is used up
//
//	Buff  hard start |40| headroom |meta| data ... end | tailroom | SharedInfo
//	      fragments: page, page, ...  none; behind a first buffer; or all bytes
//
// The driver owns the pages; a Buff is lent to the program for one call. A frame
// that is sent or redirected takes one reference on each page it lies in, and
// the driver counts those of all pages the frame had when it arrived:
// Buff.Freed names what the program let go of since. A SendQueue gives the
// references back when the device has sent.
//
// A program that declares Frags gets frames of any length. In a striding queue
// they lie in fragments alone: Data is empty until PullData.
//
// The trap: a slice from Data, Meta or Frag is stale after any call that
// adjusts the buffer, as a pointer is in a BPF program.
package xdp
