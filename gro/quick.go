package gro

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/header"
)

// Most packets go on with an aggregate that is held, and prove it by their
// bytes: who has the same header bytes as the first packet has them in the same
// places, is of the same flow and passes the same checks. Such a packet is
// neither parsed nor inspected. All that is needed is a guess where its
// addresses and ports lie, to find the aggregate; with a wrong guess the packet
// goes the long way.

// A hint is where addresses and ports of the last held packet lay, among those
// that look alike.
type hint struct {
	net, l4 uint16
	version uint8
	kind    uint64 // as flowKind; 0: none
}

// numHints is four by two bits of the EtherType and two of the byte that is the
// protocol of IPv4 on Ethernet.
const numHints = 16

// guess is the hint for a frame. Hints lie apart for what is likely to come
// mixed; a shared one costs time, nothing else.
func (g *engine) guess(head []byte) *hint {
	if len(head) < 24 {
		return &g.hints[0]
	}
	return &g.hints[(head[12]<<2|head[23]&3)%numHints]
}

func (h *hint) learn(i *header.Info) {
	h.net, h.l4, h.version, h.kind = i.Net, i.L4, i.Version, flowKind(i)
}

// quick merges the packet if it goes on with an aggregate, and returns its
// slot. If it does not, quick returns 0 and has changed nothing.
func (g *engine) quick(s *segment) (slot uint16, ended bool) {
	if s.size != 0 || s.refused != ReasonNone {
		return 0, false
	}
	if looksPlain(s.head) {
		unverified := s
		if s.known > 0 {
			unverified = nil
		}
		return g.quickPlain(hashPlain(s.head), s.head, s.length, s.apart, unverified)
	}
	h := g.guess(s.head)
	net, l4 := int(h.net), int(h.l4)
	if h.kind == 0 || l4+header.UDPBytes > len(s.head) {
		return 0, false
	}
	id := h.kind | uint64(binary.LittleEndian.Uint32(s.head[l4:]))
	hash := hashAt(s.head[net:l4], h.version, id)
	slot = g.buckets[hash&g.mask].first(hash)
	e := &g.slots[slot]
	if !e.continues(s) {
		return 0, false
	}
	return slot, e.add(s.payload, 1, s.tcpFlags)
}

// continues tells whether s goes on with the aggregate, by the rules of inspect
// and refuses. False may also mean that it takes inspect to tell.
func (e *held) continues(s *segment) bool {
	n := int(e.bytes)
	s.payload = uint32(s.length - n)
	if len(s.head) < n || s.payload-1 >= min(e.size, e.room) || s.apart != e.apart ||
		!e.guessed || !e.matches(s.head) || !e.layersFollow(s.head, s.length) {
		return false
	}
	if !e.transportFollows(s) {
		return false
	}
	return s.known >= e.sums || e.sums == 1 && e.verify(s)
}

// transportFollows checks what of the transport header is not under the mask.
func (e *held) transportFollows(s *segment) bool {
	l4 := int(e.info.L4)
	if e.proto == header.ProtoUDP {
		h := header.UDPAt(s.head, l4)
		s.tcpFlags = 0
		return h.Checksum() != 0 && int(h.Length()) == s.length-l4
	}
	h := s.head[l4 : l4+header.TCPBytes]
	s.seq, s.tcpFlags = binary.BigEndian.Uint32(h[4:8]), h[13]
	return s.seq == e.seq && s.tcpFlags&header.TCPCwr == 0
}

// layersFollow checks length, checksum and ID of each IP header.
func (e *held) layersFollow(head []byte, length int) bool {
	return e.layerFollows(inner, head, int(e.info.Net), length) &&
		(e.info.Encap == header.EncapNone ||
			e.layerFollows(outer, head, int(e.info.Outer), length))
}

func (e *held) layerFollows(k int, head []byte, off, length int) bool {
	length -= off
	if e.v4&(1<<k) == 0 {
		return int(binary.BigEndian.Uint16(head[off+4:])) == length-header.IPv6Bytes
	}
	h := head[off : off+header.IPv4Bytes]
	w := binary.BigEndian.Uint32(h[2:6])
	sum := foldIPv4(w>>16, w&0xffff, binary.BigEndian.Uint16(h[10:12]))
	return int(w>>16) == length && sum == e.layers[k].sum && e.idFollows(k, uint16(w))
}

// verify verifies the only checksum of s, which has the layout of e.
func (e *held) verify(s *segment) bool {
	s.info = e.info
	return s.verify(int(e.info.L4), int(e.info.Net), e.proto)
}
