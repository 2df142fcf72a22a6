package gro

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/header"
)

// Where the headers of a plain packet lie: Ethernet, IPv4, TCP. Its options
// begin at plainMin.
const (
	plainMin     = header.EthernetBytes + header.IPv4Bytes + header.TCPBytes
	plainStamped = plainMin + 12               // with the timestamp option, as most are
	plainKind    = header.ProtoTCP<<32 | 4<<40 // as flowKind
)

// hashPlain is the hash of the flow of a plain packet; any other's may be equal
// to it, and is then told apart by its bytes.
func hashPlain(head []byte) uint64 {
	if len(head) < plainMin {
		return 0
	}
	return hash4(binary.LittleEndian.Uint64(head[26:34]),
		plainKind|uint64(binary.LittleEndian.Uint32(head[34:38])))
}

// quickPlain is quick for plain packets, which most are: the same rules at
// constant offsets, written for few instructions. head begins a frame of length
// bytes, hash is its hashPlain. Unless its checksum is known to be good, s
// describes the packet too; else it is nil. ended tells to complete the
// aggregate.
func (g *engine) quickPlain(hash uint64, head []byte, length int, apart uint64, s *segment) (
	slot uint16, ended bool) {
	slot = g.buckets[hash&g.mask].first(hash)
	e := &g.slots[slot]
	n := int(e.plain)
	if n > len(head) || n == notPlain {
		return 0, false
	}
	h, p := (*[plainMin]byte)(head), (*[plainMin]byte)(e.head[:])
	differ := differAt(h, p, 0) | differAt(h, p, 8) |
		differAt(h, p, 16)>>32 | // not length and ID
		differAt(h, p, 24)>>16 | // not the checksum
		differAt(h, p, 32)<<16 | // not the sequence number, here
		differAt(h, p, 40)>>16&^plainFlags | // and here; not FIN and PSH
		uint64(binary.LittleEndian.Uint16(h[48:])^binary.LittleEndian.Uint16(p[48:]))
	if n == plainStamped {
		h, p := (*[plainStamped]byte)(head), (*[plainStamped]byte)(e.head[:])
		differ |= binary.LittleEndian.Uint64(h[54:]) ^ binary.LittleEndian.Uint64(p[54:]) |
			uint64(binary.LittleEndian.Uint32(h[62:])^binary.LittleEndian.Uint32(p[62:]))
	} else if n > plainMin {
		differ |= differOptions(head[plainMin:n], e.head[plainMin:n])
	}
	w := binary.BigEndian.Uint32(h[16:20]) // length and ID
	seq, flags := binary.BigEndian.Uint32(h[38:42]), h[47]
	differ |= apart ^ e.apart | uint64(seq^e.seq) | uint64(flags&header.TCPCwr) |
		uint64(int(w>>16)^(length-header.EthernetBytes))
	sum := foldIPv4(w>>16, w&0xffff, binary.BigEndian.Uint16(h[24:26]))
	if differ|uint64(sum^e.layers[inner].sum) != 0 {
		return 0, false
	}
	payload := uint32(length - n)
	if payload-1 >= min(e.size, e.room) {
		return 0, false
	}
	if !e.idFollows(inner, uint16(w)) {
		return 0, false
	}
	if s != nil && !e.verify(s) {
		return 0, false
	}
	e.room -= payload
	e.seq += payload
	e.count++
	if payload == e.size && flags&endFlags == 0 {
		return slot, false
	}
	e.flags = flags
	return slot, true
}

// startPlain holds a plain packet, whose checksum is known to be good, as the
// first of its flow, and returns its slot. It returns 0 and has done nothing if
// there is anything about the packet that takes the long way.
func (g *engine) startPlain(hash uint64, head []byte, length int, apart uint64) uint16 {
	b := &g.buckets[hash&g.mask]
	if b.n == bucketDepth || !looksPlain(head) || b.first(hash) != 0 {
		return 0
	}
	h := (*[plainMin]byte)(head)
	ip, tcp := (*header.IPv4)(h[header.EthernetBytes:]), (*header.TCP)(h[plainMin-header.TCPBytes:])
	n := plainMin - header.TCPBytes + tcp.HeaderLen()
	flags := uint8(tcp.Flags())
	if ip[0] != 0x45 || ip.Fragment()&^header.IPv4DF != 0 || !goodIPv4Sum(ip) ||
		int(ip.TotalLen()) != length-header.EthernetBytes ||
		n < plainMin || n > len(head) || n >= length || flags&endFlags != 0 {
		return 0
	}
	slot := g.table.add(hash)
	e := &g.slots[slot]
	e.begin(length, maxLength+header.EthernetBytes, apart)
	if n == plainStamped {
		*(*[plainStamped]byte)(e.head[:]) = *(*[plainStamped]byte)(head)
	} else {
		copy(e.head[:], head[:n])
	}
	e.size = uint32(length - n)
	e.proto, e.seq = header.ProtoTCP, tcp.Seq()+e.size
	e.count, e.first, e.most = 1, 1, maxSegments
	e.v4, e.sums, e.guessed = 0, 1, false
	e.learnIPv4(inner, ip)
	if e.plain != uint16(n) || e.bytes != e.plain {
		header.Parse(header.LinkEthernet, head, nil, &e.info)
		e.plain, e.bytes = uint16(n), uint16(n)
	} // else the slot's last headers lay the same way
	g.stats.Reasons[ReasonFirst]++
	return slot
}

// looksPlain tells that a frame can only go on with a plain aggregate.
func looksPlain(head []byte) bool {
	return len(head) >= plainMin && head[23] == header.ProtoTCP &&
		binary.BigEndian.Uint16(head[12:14]) == header.TypeIPv4
}

// plainFlags are FIN and PSH in bytes 42 to 47, little-endian.
const plainFlags = uint64(header.TCPFin|header.TCPPsh) << 40

func differAt(a, b *[plainMin]byte, i int) uint64 {
	return binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
}

// differOptions compares TCP options, which are a multiple of four bytes.
func differOptions(a, b []byte) (differ uint64) {
	n := len(a)
	if n < 8 {
		return uint64(binary.LittleEndian.Uint32(a) ^ binary.LittleEndian.Uint32(b))
	}
	b = b[:n]
	for i := 0; i < n-8; i += 8 {
		differ |= get64(a, i) ^ get64(b, i)
	}
	return differ | get64(a, n-8) ^ get64(b, n-8)
}
