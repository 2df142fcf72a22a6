package header

import "encoding/binary"

// Length is the number of bytes at the start of frame that are headers, from 0
// to len(frame): what a driver copies apart from the payload. frame may be the
// head of a longer one, and damaged in any way.
//
// For LinkEthernet it follows Linux's eth_get_headlen (net/core/flow_dissector.c;
// facts/gro.md B): tags, tunnels without UDP and IPv6 extension headers are
// walked, at most 15 steps deep; where something is unknown or cut short, the
// headers end in front of it, but not before the link header does. A first
// fragment ends the walk with its transport header, if it has one, as in the
// payload offset that the kernel tells packet filters; eth_get_headlen alone
// would go on into a tunnel. Other link types take the same walk from their
// network header.
//
// Budget: 6 ns for the plain cases.
func Length(link LinkType, frame []byte) int {
	if link == LinkEthernet && len(frame) >= 54 && len(frame) <= maxOffset {
		h := (*[54]byte)(frame)
		switch first := binary.BigEndian.Uint32(h[12:16]); {
		case first>>8 == TypeIPv4<<8|0x45:
			// A first fragment may have a TCP header, a later one has none.
			switch binary.BigEndian.Uint32(h[20:24]) & (IPv4OffsetMask<<16 | 0xff) {
			case ProtoTCP:
				return min(34+tcpLen(h[46]), len(frame))
			case ProtoUDP:
				return 42
			}
		case first>>16 == TypeIPv6 && len(frame) >= 74:
			switch h[20] {
			case ProtoTCP:
				return min(54+tcpLen(frame[66]), len(frame))
			case ProtoUDP:
				return 62
			case ProtoIPv6:
				// Both of 40 bytes, so the inner one lies as fixed as the outer.
				if len(frame) >= 114 && frame[60] == ProtoTCP {
					return min(94+tcpLen(frame[106]), len(frame))
				}
			}
		}
	}
	return length(link, frame)
}

// length is Length without shortcuts.
func length(link LinkType, frame []byte) int {
	first := link.HeaderLen()
	if len(frame) < first {
		return len(frame)
	}
	p, known := place{off: first, typ: link.netType(frame)}.walk(frame)
	p.off = min(p.off, len(frame)&maxOffset)
	if !known {
		return max(p.off, first)
	}
	return min(p.off+p.transportLen(frame), len(frame))
}

// maxOffset is the mask of the kernel's clamp: an offset ends at the low 16 bits
// of the frame's length.
const maxOffset = 0xffff

// A place is where Length has come in a frame. It is small enough to travel in
// registers.
type place struct {
	off   int    // offset of the next header; may lie behind the frame
	typ   uint16 // EtherType found last
	proto uint8  // IP protocol found last
	later bool   // in a fragment that is not the first
}

// A step says how the walk goes on.
type step uint8

const (
	stepGood  step = iota // the headers end here
	stepBad               // cut short or unknown
	stepType              // a header of EtherType typ follows
	stepProto             // a header of IP protocol proto follows
)

// maxSteps is MAX_FLOW_DISSECT_HDRS: the next one ends the walk, as a success.
const maxSteps = 15

// walk goes to the end of the headers and reports whether it knew them all.
func (p place) walk(b []byte) (place, bool) {
	s := stepType
	for range 1 + maxSteps {
		if s == stepType {
			p, s = p.network(b)
		}
		if s == stepProto {
			p, s = p.transport(b)
		}
		if s <= stepBad {
			break
		}
	}
	return p, s != stepBad
}

// has reports whether n bytes lie here.
func (p place) has(b []byte, n int) bool { return p.off+n <= len(b) }

// transportLens are the header lengths of transport protocols but TCP.
var transportLens = [256]uint8{
	ProtoUDP: UDPBytes, ProtoUDPLite: UDPBytes,
	ProtoICMP: ICMPBytes, ProtoICMPv6: ICMPBytes, ProtoIGMP: IGMPBytes,
	ProtoDCCP: 12, ProtoSCTP: 12,
}

// transportLen is the length of the transport header; 0 for a later fragment.
func (p place) transportLen(b []byte) int {
	if p.later {
		return 0
	}
	if p.proto != ProtoTCP {
		return int(transportLens[p.proto])
	}
	if !p.has(b, 13) {
		return 0
	}
	return tcpLen(b[p.off+12])
}

// tcpLen is the length of a TCP header whose data offset byte that is; too small
// ones count as no options.
func tcpLen(dataOffset byte) int { return max(TCPBytes, int(dataOffset&0xf0)>>2) }
