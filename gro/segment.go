package gro

import "github.com/millrace-net/millrace/header"

// A segment is a packet as the engine sees it: header bytes and lengths. The
// front end fills the first part, the engine the second.
type segment struct {
	head     []byte // first bytes of the frame, all headers among them; lent
	length   int    // bytes of the frame, those behind head included
	apart    uint64 // what the mask does not cover and must be equal
	tail     uint16 // sum of the bytes behind head
	known    uint8  // checksums known to be good, from the outside in
	complete bool   // sum covers the bytes behind the link header
	sum      uint16
	refused  Reason // why the packet must not be merged at all
	size     uint32 // payload bytes in a segment, if it is merged already; else 0
	segs     uint32 // segments in it, at least 1
	fixed    uint8  // merged already: layers whose IPv4 ID stays
	info     header.Info

	verified uint8 // checksums that the engine found good
	tcpFlags uint8
	payload  uint32 // bytes behind the headers
	seq      uint32
}

// good is how many checksums were found good, or believed because the Config says
// so: it began with known.
func (s *segment) good(known uint8) uint8 {
	if known == 0 {
		return s.verified
	}
	return known - s.known
}

// allKnown in segment.known outlasts any number of layers.
const allKnown = 64

// Bits of segment.apart: the stripped VLAN tag takes the lower 32.
const (
	apartLink = 32      // the link type, from this bit on
	apartSum  = 1 << 40 // the UDP header of the tunnel has a checksum
)
