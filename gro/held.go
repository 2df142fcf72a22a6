package gro

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// maxHeader bounds the headers that are compared, in bytes. Ethernet, IPv6,
// UDP, VXLAN, Ethernet, IPv6 and TCP with all options are 184.
const maxHeader = 256

// A held packet is one aggregate in the making: its first packet and what later
// ones added.
type held struct {
	// First cache line.
	apart  uint64 // as in segment
	seq    uint32 // TCP: the sequence number that must follow
	size   uint32 // payload bytes of the first segment
	room   uint32 // payload bytes that still fit
	count  uint32 // segments
	most   uint32 // segments that end it
	layers [2]layer
	plain  uint16 // bytes, where quickPlain decides about later packets; else notPlain
	bytes  uint16 // header bytes: info.Payload
	v4     uint8  // layers that are IPv4
	flags  uint8  // TCP: those of the packet that ended it
	proto  uint8
	sums   uint8 // checksums that each packet has

	// The front end's own: the first and the last packet; of the last, in a
	// Table, where fragments are added.
	owner, tail uint32
	truesize    uint32

	head [maxHeader]byte // headers of the first packet

	frags   *packet.SharedInfo
	info    header.Info
	limit   uint32 // length that may not be exceeded
	first   uint32 // segments in the first packet
	next    uint16 // in order of arrival
	prev    uint16
	bucket  uint16
	guessed bool // continues may decide about later packets
	born    int64

	// Header bits that must be equal in later packets, eight bytes at a time,
	// and the last eight bytes. Not set for plain packets.
	mask [maxHeader / 8]uint64
	end  uint64
}

// notPlain in held.plain says that quickPlain does not decide.
const notPlain = 0xffff

// merged reports whether anything was added to the first packet.
func (e *held) merged() bool { return e.count != e.first }

// length is the length of the frame that it would be.
func (e *held) length() int { return int(e.limit - e.room) }

// A layer is what differs between the IPv4 headers of one aggregate.
type layer struct {
	id     uint16 // of the first packet
	sum    uint16 // its length, ID and checksum; the same in every good header
	counts uint16 // all ones: the ID counts up; 0: it stays
	_      uint16
}

// Layers in held.layers, and bits in held.v4 and segment.fixed. Without a
// tunnel there is only the inner one.
const (
	inner = 0
	outer = 1
)

// fixed reports whether the ID of an IPv4 layer stays.
func (e *held) fixed(k int) bool { return e.v4&(1<<k) != 0 && e.layers[k].counts == 0 }

// hold makes s the first packet of an aggregate and returns its slot. Its
// bucket must have room.
func (g *engine) hold(s *segment) uint16 {
	slot := g.table.add(g.hash)
	e, i := &g.slots[slot], &s.info
	// It counts from behind the link header (facts/gro.md A.8).
	limit := maxLength + int(i.Outer) - header.VLANBytes*int(i.Tags)
	e.begin(s.length, max(limit, s.length), s.apart)
	copy(e.head[:], s.head[:i.Payload])
	e.proto, e.seq, e.size = i.Proto, s.seq+s.payload, s.payload
	e.count, e.first, e.most = s.segs, s.segs, maxSegments
	if s.size != 0 {
		e.size = s.size
	}
	if e.proto == header.ProtoUDP {
		e.most = maxDatagrams
	}
	e.learn(s)
	for k := range e.layers {
		if s.fixed&(1<<k) != 0 {
			e.layers[k].counts = 0
		}
	}
	if e.guessed {
		g.guess(s.head).learn(i)
	}
	return slot
}

// begin sets what depends on no header.
func (e *held) begin(length, limit int, apart uint64) {
	e.apart, e.flags = apart, 0
	e.limit, e.room = uint32(limit), uint32(limit-length)
}

// Limits of an aggregate: bytes (GRO_LEGACY_MAX_SIZE - 1) and UDP datagrams
// (UDP_GRO_CNT_MAX).
const (
	maxLength    = 65535
	maxDatagrams = 64
	maxSegments  = 1 << 16 // of one byte each: never reached
)

// add counts in a packet of segs segments and payload bytes, and reports
// whether it ends the aggregate.
func (e *held) add(payload, segs uint32, flags uint8) bool {
	e.room -= payload
	e.seq += payload
	e.count += segs
	if payload == e.size*segs && flags&endFlags == 0 && e.count < e.most {
		return false
	}
	e.flags = flags
	return true
}
