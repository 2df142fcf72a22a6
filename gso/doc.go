// Package gso cuts a large packet into the segments that go on the wire. It
// restores exactly what package gro merged, and cuts what a TAP or a packet
// socket hands over with a virtio-net header (package vnet).
//
//	head     [Ethernet|VLAN|IP|tunnel|IP|TCP]         packet.GSO says what
//	payload  [piece][piece]..[piece]                  to cut and how
//	            |
//	bufs     [headers|payload] [headers|payload] ..   one segment in each
//
// Head and payload are lent until the packet is cut; bufs belong to the caller
// and receive copies. Payload is copied once, from any number of pieces, and
// summed where it lands. Every segment has its own lengths, IPv4
// identification, sequence number and checksums on every layer; what a tunnel
// puts outside is rewritten behind what is inside. All other header bytes are
// repeated as they are. A packet that is not marked (GSONone) is one segment.
//
// The trap: the transport checksum of head is not read. It is a partial sum
// where gro or a TAP made the packet and anything else where somebody built it
// by hand; the segments get a whole one, from the addresses in the IP header.
// A network card may be told to do that work, this package never leaves it.
//
// UFO, the cutting of one datagram into IP fragments, is absent: Linux itself
// emulates it for old guests only, and who reassembles needs the whole anyway.
package gso
