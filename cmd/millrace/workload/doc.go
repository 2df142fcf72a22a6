// Package workload makes what arrives on the wire of a software NIC: generated
// traffic, or the frames of a capture file. Both are a nic.Wire.
//
//	gen:tcp,flows=8  -> Parse -> Config -> Generator --+
//	                                                   +-> nic.Device
//	pcap:FILE        -> capture.Reader --> Replay -----+
//
// The device is lent each frame until it asks for the next one. A Generator
// and a Replay belong to the goroutine that drives the device.
//
// A Generator builds the headers of each flow once. For each frame it patches
// sequence number, IPv4 identification and checksums, and copies the headers
// in front of a payload that all flows share: no allocation, a few dozen
// nanoseconds a frame.
//
// The trap: the payload never changes, so that its sum is known. Whoever
// changes a byte of it makes every checksum wrong.
package workload
