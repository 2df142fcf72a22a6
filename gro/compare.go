package gro

import "github.com/millrace-net/millrace/header"

// refuses says why s, of the same flow, cannot be added; ReasonNone: it can.
func (e *held) refuses(s *segment) Reason {
	if s.payload == 0 {
		return ReasonEmpty
	}
	if e.differs(s) {
		return e.difference(s)
	}
	if e.v4 != 0 && !e.countsUp(s.head) {
		return ReasonIPID
	}
	if s.size == 0 && s.payload > e.size {
		return ReasonLonger
	}
	if e.proto == header.ProtoTCP {
		switch {
		case s.tcpFlags&header.TCPCwr != 0:
			return ReasonCWR
		case s.seq != e.seq:
			return ReasonSequence
		case s.size != 0 && (s.size != e.size || !e.sameFixed(s.fixed)):
			return ReasonGSO
		}
	}
	if s.payload > e.room {
		return ReasonSize
	}
	return ReasonNone
}

// differs tells that header bytes of s are not those of the aggregate.
func (e *held) differs(s *segment) bool {
	return s.info.Payload != e.bytes || s.apart != e.apart || !e.matches(s.head)
}

// apartFrom tells that Linux takes s for a packet of another flow.
func (e *held) apartFrom(s *segment) bool { return e.differs(s) && otherFlow(e.difference(s)) }

// sameFixed compares the layers whose ID stays with those of a packet that was
// merged already.
func (e *held) sameFixed(layers uint8) bool {
	return e.fixed(inner) == (layers&(1<<inner) != 0) && e.fixed(outer) == (layers&(1<<outer) != 0)
}

// matches compares all header bytes under the mask, eight at a time; the last
// eight overlap. Equal bytes mean equal layout too: what decides where headers
// lie is under the mask. head has at least e.bytes bytes.
func (e *held) matches(head []byte) bool {
	if e.plain != notPlain {
		e.setMask(&e.info, e.head[:]) // here for once
	}
	n := int(e.bytes)
	a, b := head[:n], e.head[:n]
	differ := (get64(a, n-8) ^ get64(b, n-8)) & e.end
	for i := 0; i+8 <= n; i += 8 {
		differ |= (get64(a, i) ^ get64(b, i)) & e.mask[uint(i/8)%(maxHeader/8)]
	}
	return differ == 0
}

// countsUp applies the rule of IPv4 identifications to each layer that has
// one (facts/gro.md A.4, 6.18): it grows by one a segment, or stays. The
// second segment decides.
func (e *held) countsUp(head []byte) bool {
	return (e.v4&(1<<inner) == 0 ||
		e.idFollows(inner, header.IPv4At(head, int(e.info.Net)).ID())) &&
		(e.v4&(1<<outer) == 0 ||
			e.idFollows(outer, header.IPv4At(head, int(e.info.Outer)).ID()))
}

func (e *held) idFollows(k int, id uint16) bool {
	l := &e.layers[k]
	step := id - l.id
	if step == uint16(e.count)&l.counts {
		return true
	}
	if e.count == 1 && step == 0 {
		l.counts = 0
		return true
	}
	return false
}

// difference is the reason that matches found, or would have found: one that
// makes two flows of it for Linux, if there is any, else the first.
func (e *held) difference(s *segment) (r Reason) {
	i := &s.info
	switch {
	case s.apart != e.apart || i.Tags != e.info.Tags || i.Outer != e.info.Outer:
		return ReasonLink
	case i.Encap != e.info.Encap || i.Tunnel != e.info.Tunnel:
		return ReasonTunnelDiffers
	}
	if e.plain != notPlain {
		e.setMask(&e.info, e.head[:])
	}
	r = ReasonOptions // one has more of them
	for off := min(i.Payload, e.bytes); off > 0; {
		off--
		mask := uint8(e.mask[off/8] >> (off % 8 * 8))
		if x := (s.head[off] ^ e.head[off]) & mask; x != 0 {
			if f := fieldReason(i, s.head, off, x); otherFlow(f) || !otherFlow(r) {
				r = f
			}
		}
	}
	return r
}

// fieldReason names the header field at off, by the bits x of a byte.
func fieldReason(i *header.Info, head []byte, off uint16, x uint8) Reason {
	outerEnd := i.Tunnel
	if outerEnd == 0 {
		outerEnd = i.Net
	}
	switch {
	case off < i.Outer:
		return ReasonLink
	case off < outerEnd:
		return networkReason(head[i.Outer]>>4, off-i.Outer, x)
	case off < i.Net:
		return ReasonTunnelDiffers
	case off < i.L4:
		return networkReason(i.Version, off-i.Net, x)
	}
	return transportReason(off - i.L4)
}

// networkReason names the field at off in an IP header, by the bits x of a
// byte.
func networkReason(version uint8, off uint16, x uint8) Reason {
	if version == 4 {
		switch off {
		case 1:
			return ReasonTOS
		case 6, 7:
			return ReasonDF
		case 8:
			return ReasonTTL
		}
		return ReasonTunnelDiffers
	}
	switch {
	case off == 0, off == 1 && x&0xf0 != 0:
		return ReasonTOS
	case off < 4:
		return ReasonFlowLabel
	case off == 7:
		return ReasonTTL
	case off == 6 || off >= header.IPv6Bytes:
		return ReasonExtensions
	}
	return ReasonTunnelDiffers
}

// transportReason names the field at off of a TCP header.
func transportReason(off uint16) Reason {
	switch {
	case off < 12:
		return ReasonAck
	case off < 14:
		return ReasonFlagsDiffer
	case off < 16:
		return ReasonWindow
	}
	return ReasonOptions
}
