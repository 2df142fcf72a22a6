package gro

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/header"
)

// learn keeps what later packets are compared with.
func (e *held) learn(s *segment) {
	i := &s.info
	e.v4, e.sums, e.bytes = 0, 1, i.Payload
	if i.Version == 4 {
		e.learnIPv4(inner, header.IPv4At(s.head, int(i.Net)))
	}
	if i.Net == header.EthernetBytes && i.Version == 4 && i.Proto == header.ProtoTCP {
		e.plain, e.guessed, e.info = e.bytes, false, *i
		return
	}
	e.plain, e.guessed = notPlain, true
	if !sameLayout(&e.info, i) {
		e.setMask(i, s.head)
	} // else the slot's last headers lay the same way
	e.info = *i
	if i.Encap != header.EncapNone {
		e.learnTunnel(s)
	}
}

// sameLayout tells that the mask for headers like a is that for headers like b.
// Of tunnels, and of plain packets, which have none, it does not say so.
func sameLayout(a, b *header.Info) bool {
	return a.Net == b.Net && a.L4 == b.L4 && a.Payload == b.Payload && a.Outer == b.Outer &&
		a.Proto == b.Proto && a.Version == b.Version &&
		a.Encap == header.EncapNone && b.Encap == header.EncapNone
}

func (e *held) learnTunnel(s *segment) {
	i := &s.info
	if s.head[i.Outer]>>4 == 4 {
		e.learnIPv4(outer, header.IPv4At(s.head, int(i.Outer)))
	}
	switch i.Encap {
	case header.EncapVXLAN:
		e.sums = 2
		// That a later packet has a checksum too is not under the mask.
		e.guessed = header.UDPAt(s.head, int(i.Tunnel)).Checksum() == 0
	case header.EncapGRE, header.EncapTEB:
		if header.GREAt(s.head, int(i.Tunnel)).Flags()&header.GREChecksum != 0 {
			e.sums = 2
		}
	}
}

func (e *held) learnIPv4(k int, h *header.IPv4) {
	w := binary.BigEndian.Uint32(h[2:6]) // length and ID
	e.v4 |= 1 << k
	l := &e.layers[k]
	l.id, l.counts, l.sum = uint16(w), 0xffff, foldIPv4(w>>16, w&0xffff, h.Checksum())
}

// foldIPv4 is the sum of those words of an IPv4 header that may differ in an
// aggregate. Where all others are equal, it is the same for every header with
// a good checksum.
func foldIPv4(length, id uint32, check uint16) uint16 {
	sum := length + id + uint32(check)
	sum = sum&0xffff + sum>>16
	return uint16(sum + sum>>16)
}

// setMask sets the bits that must be equal: all but those cleared here, which
// either have rules of their own or are computed anew.
func (e *held) setMask(i *header.Info, head []byte) {
	var bytes [maxHeader]byte
	m := bytes[:i.Payload]
	for k := range m {
		m[k] = 0xff
	}
	if i.Encap != header.EncapNone {
		openNetwork(m[i.Outer:], head[i.Outer]>>4)
		openTunnel(m[i.Tunnel:], i.Encap, head[i.Tunnel:])
	}
	openNetwork(m[i.Net:], i.Version)
	openTransport(m[i.L4:], i.Proto)
	for k := range (len(m) + 7) / 8 {
		e.mask[k] = binary.LittleEndian.Uint64(bytes[8*k:])
	}
	e.end = binary.LittleEndian.Uint64(m[len(m)-8:])
}

// openNetwork clears length, identification and checksum.
func openNetwork(m []byte, version uint8) {
	if version == 4 {
		clear(m[2:6])
		clear(m[10:12])
	} else {
		clear(m[4:6])
	}
}

// openTunnel clears checksum and length. The second half of a GRE checksum
// word is reserved, but restored with the rest.
func openTunnel(m []byte, encap header.Encap, h []byte) {
	switch encap {
	case header.EncapGRE, header.EncapTEB:
		if header.GREAt(h, 0).Flags()&header.GREChecksum != 0 {
			clear(m[4:6])
		}
	case header.EncapVXLAN:
		clear(m[4:6])
		if header.UDPAt(h, 0).Checksum() != 0 {
			clear(m[6:8])
		}
	}
}

// openTransport clears, of TCP, the sequence number, FIN, PSH, the checksum and
// the urgent pointer, which Linux does not compare; of UDP length and checksum.
func openTransport(m []byte, proto uint8) {
	clear(m[4:8])
	if proto == header.ProtoTCP {
		m[13] &^= header.TCPFin | header.TCPPsh
		clear(m[16:20])
	}
}
