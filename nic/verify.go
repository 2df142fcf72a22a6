package nic

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// valid is the folded sum over bytes that include a right checksum.
const valid = 0xffff

// verify sums the frame once, in pieces that serve both the sum over all of it
// and the checksum of its transport header, and gives the verdict.
func (l *label) verify(b []byte) {
	l.verdict = desc.L2OK
	l4, end := int(l.info.L4), transportEnd(&l.info, b)
	if end == 0 {
		l.sum = checksum.Sum(b[l.l2:])
		l.verifyNet(b)
		return
	}
	head := checksum.Sum(b[l.l2:l4])
	l.segment = checksum.Sum(b[l4:end])
	l.sum = checksum.Combine(head, l.segment, (l4-l.l2)&1 != 0)
	if end < len(b) {
		l.sum = checksum.Combine(l.sum, checksum.Sum(b[end:]), (end-l.l2)&1 != 0)
	}
	if l.info.Version == 4 && int(l.info.Net) == l.l2 {
		l.good(desc.L3OK, head == valid) // head is the IPv4 header and nothing else
	} else {
		l.verifyNet(b)
	}
	l.good(desc.L4OK, l.goodTransport(b, l4, end) && l.goodTunnel(b))
}

func (l *label) good(layer desc.Verdict, ok bool) {
	if ok {
		l.verdict |= layer
	}
}

// verifyNet checks the IPv4 headers; IPv6 has no checksum.
func (l *label) verifyNet(b []byte) {
	if l.info.Version == 0 {
		return
	}
	ok := goodIP(b, int(l.info.Net))
	if l.info.Outer != l.info.Net {
		ok = ok && goodIP(b, int(l.info.Outer))
	}
	l.good(desc.L3OK, ok)
}

func goodIP(b []byte, off int) bool {
	if b[off]>>4 == 6 {
		return true
	}
	end := off + header.IPv4At(b, off).HeaderLen()
	return end <= len(b) && checksum.Sum(b[off:end]) == valid
}

// goodTransport checks the innermost TCP or UDP checksum. UDP without one is
// good over IPv4.
func (l *label) goodTransport(b []byte, l4, end int) bool {
	if l.info.Proto == header.ProtoUDP && header.UDPAt(b, l4).Checksum() == 0 {
		return l.info.Version == 4
	}
	head := checksum.Pseudo(b[l.info.Net:], l.info.Proto, end-l4)
	return checksum.Combine(l.segment, head, false) == valid
}

// goodTunnel checks the checksum that a tunnel header may carry, so that a
// good tunneled packet is good on both levels.
func (l *label) goodTunnel(b []byte) bool {
	t := int(l.info.Tunnel)
	end := ipEnd(b, int(l.info.Outer))
	switch l.info.Encap {
	case header.EncapVXLAN:
		if header.UDPAt(b, t).Checksum() == 0 {
			return true
		}
		end = tunnelEnd(&l.info, b)
		if end == 0 {
			return false
		}
		sum := checksum.Pseudo(b[int(l.info.Outer):], header.ProtoUDP, end-t)
		return checksum.Combine(checksum.Sum(b[t:end]), sum, false) == valid
	case header.EncapGRE, header.EncapTEB:
		if binary.BigEndian.Uint16(b[t:])&0x8000 == 0 {
			return true
		}
		return t < end && end <= len(b) && checksum.Sum(b[t:end]) == valid
	}
	return true
}
