// Package vnet is the virtio-net header: the ten bytes in front of a frame
// with which TAP devices and packet sockets are told, and tell, how a packet
// is cut and which checksum is missing.
//
//	gro.Aggregate --For---> Header + frame --> TAP, packet socket
//	packet.Packet --From-->
//
//	TAP, packet socket --> Header + frame --Parse--> packet.GSO --> gso.Cut
//
// Nothing is owned here: a Header is a value, frames are only read.
//
// What is read from a descriptor comes from somewhere else, possibly another
// machine's guest. Parse believes none of it: every offset is compared with
// the headers of the frame, as Linux does, and hdr_len only has to lie in the
// frame (Linux fills it with the length of its linear part).
//
// The trap: the header has no place for tunnels and none for fixed IPv4
// identifications. Who writes a merged packet whose GSO flags name either
// gives Linux less than it needs to restore the stream; cut such packets with
// gso instead. UFO is refused.
package vnet
