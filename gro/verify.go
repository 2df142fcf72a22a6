package gro

import (
	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// verify reports whether the checksum over the bytes from off to the end of
// the frame is good. For TCP and UDP the pseudo header of the IP header at net
// belongs to it, for GRE nothing else. A checksum that is known to be good is
// used up instead: each layer uses one.
func (s *segment) verify(off, net int, proto uint8) bool {
	if s.known > 0 {
		s.known--
		return true
	}
	sum := s.sumFrom(off)
	if proto != header.ProtoGRE {
		sum = checksum.Combine(sum, checksum.Pseudo(s.head[net:], proto, s.length-off), false)
	}
	if sum != 0xffff {
		return false
	}
	s.verified++
	return true
}

// verifyUDP verifies the UDP header at off. No checksum is a good one.
func (s *segment) verifyUDP(off, net int) bool {
	if s.known == 0 && header.UDPAt(s.head, off).Checksum() == 0 {
		s.verified++
		return true
	}
	return s.verify(off, net, header.ProtoUDP)
}

// sumFrom is the sum of all bytes from off on.
func (s *segment) sumFrom(off int) uint16 {
	if s.complete {
		// Take the headers in front out of the device's sum.
		before := s.head[s.info.Outer-4*uint16(s.info.Tags) : off]
		return checksum.Combine(s.sum, ^checksum.Sum(before), false)
	}
	sum := checksum.Sum(s.head[off:])
	return checksum.Combine(sum, s.tail, (len(s.head)-off)&1 != 0)
}

// sumFrags is the sum of the fragments' bytes, the first skip left out.
func sumFrags(sh *packet.SharedInfo, skip uint32) (sum uint16) {
	odd := false
	for _, f := range sh.Frags[:min(sh.NumFrags, packet.MaxFrags)] {
		b := f.Bytes()[skip:]
		sum = checksum.Combine(sum, checksum.Sum(b), odd)
		odd = odd != (len(b)&1 != 0)
		skip = 0
	}
	return sum
}
