package gro

import (
	"encoding/binary"
	"math/bits"

	"github.com/millrace-net/millrace/header"
)

// A flow is the innermost connection: addresses, protocol, ports. Link header,
// tunnel, flow label and the like do not count: whoever reads the stream does
// not see them, and its order must not depend on them.

// hash spreads flows over the buckets. It depends on nothing but the flow, so
// that every packet of a flow meets those that are held, whatever hash a device
// gave it. It reports false when the ports are out of reach: the packet is a
// later fragment, or cut.
func (s *segment) hash() (uint64, bool) {
	i := &s.info
	l4 := int(i.L4)
	if l4 == 0 || l4+4 > len(s.head) {
		return 0, false
	}
	id := flowKind(i) | uint64(binary.LittleEndian.Uint32(s.head[l4:]))
	return hashAt(s.head[i.Net:], i.Version, id), true
}

// flowKind is protocol and IP version, above the bits that the ports take.
func flowKind(i *header.Info) uint64 { return uint64(i.Proto)<<32 | uint64(i.Version)<<40 }

// hashAt is the hash of the flow with the addresses of an IP header; id is its
// ports and flowKind.
func hashAt(ip []byte, version uint8, id uint64) uint64 {
	if version == 4 {
		return hash4(get64(ip, 12), id)
	}
	h := (*header.IPv6)(ip)
	a, b := get64(h[:], 8), get64(h[:], 16)
	c, d := get64(h[:], 24), get64(h[:], 32)
	return hash4(hash4(a, b)^hash4(c, d^mix1), id)
}

// hash4 mixes the two addresses of IPv4 with the rest.
func hash4(addresses, id uint64) uint64 {
	hi, lo := bits.Mul64(addresses^mix1, id^mix2)
	return hi ^ lo
}

// Odd constants with well mixed bits: the golden ratio and digits of pi.
const (
	mix1 = 0x9e3779b97f4a7c15
	mix2 = 0x243f6a8885a308d3
)

// hasFlow reports whether s is of the same flow.
func (e *held) hasFlow(s *segment) bool {
	return e.hasAddresses(s) && binary.LittleEndian.Uint32(e.head[e.info.L4:]) ==
		binary.LittleEndian.Uint32(s.head[s.info.L4:])
}

// hasAddresses reports whether s has the same addresses and protocol.
func (e *held) hasAddresses(s *segment) bool {
	if e.info.Version != s.info.Version || e.info.Proto != s.info.Proto {
		return false
	}
	a, b := e.head[e.info.Net:], s.head[s.info.Net:]
	if s.info.Version == 4 {
		return get64(a, 12) == get64(b, 12)
	}
	return get64(a, 8) == get64(b, 8) && get64(a, 16) == get64(b, 16) &&
		get64(a, 24) == get64(b, 24) && get64(a, 32) == get64(b, 32)
}

func get64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
