package nic

import (
	"bytes"
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// Limits of a merged packet.
const (
	lroSessions  = 32
	lroBytes     = 64<<10 - 256 // of the packet; the driver's length fields have 16 bits
	lroSegs      = 255          // lro_num_seg has 8 bits
	lroHeader    = 192          // of the headers; no frame that is merged has more
	lroTimeoutNs = 32000
)

// A merger joins TCP segments that follow each other. Sessions end with the
// Step at the latest, so no frame stays in the device.
type merger struct {
	dev      *Device
	sessions []*session // the first n are open, oldest first
	n        int
	cqe      desc.CQE
}

// A session is a packet that is being merged (facts/mlx5e.md 4.6, 13). The
// headers in front are those of the first segment, as they were on the wire;
// what the later ones change stands in the completion.
type session struct {
	q       *queue
	label   label           // of the first segment
	headers [lroHeader]byte // of the first segment, tag included
	packet  []byte          // as it goes to memory, without a stripped tag
	segs    int
	seq     uint32 // of the segment that may follow
	ack     uint32
	stamp   uint32 // TCP timestamp of the last segment
	start   int64
	window  uint16
	sum     uint16 // of the payload, folded
	odd     bool   // payload has an odd length so far
	minTTL  uint8
	psh     bool
	ce      bool
}

// allocate makes the sessions, once.
func (m *merger) allocate() {
	if m.sessions != nil {
		return
	}
	m.sessions = make([]*session, lroSessions)
	for i := range m.sessions {
		m.sessions[i] = &session{packet: make([]byte, 0, 64<<10)}
	}
}

// take merges the frame into a session, or opens one for it. It reports false
// when the frame cannot be merged; it has then ended what was open of its
// flow, so that the frame stays behind it.
func (m *merger) take(q *queue, l *label, b []byte) bool {
	if l.hashType&desc.HashL4Mask != desc.HashTCP {
		return false
	}
	fit := mergeable(l, b)
	for i, s := range m.sessions[:m.n] {
		if s.label.hash != l.hash || s.q != q {
			continue
		}
		if fit && s.follows(l, b) {
			s.add(l, b)
			if s.psh || s.segs == lroSegs {
				m.flush(i)
			}
			return true
		}
		m.flush(i)
		break
	}
	if !fit || header.TCPAt(b, int(l.info.L4)).Flags()&header.TCPPsh != 0 {
		return false
	}
	if m.n == len(m.sessions) {
		m.flush(0)
	}
	m.sessions[m.n].open(q, l, b)
	m.n++
	return true
}

// mergeable: a good TCP segment with data and no padding behind it, without a
// tunnel, fragments, options of IP, options of TCP but the timestamp, or flags
// but ACK and PSH.
func mergeable(l *label, b []byte) bool {
	const good = desc.L3OK | desc.L4OK
	tcp := header.TCPAt(b, int(l.info.L4))
	options := int(l.info.Payload) - int(l.info.L4) - header.TCPBytes
	return l.verdict&good == good && l.info.Encap == header.EncapNone &&
		l.info.Flags == 0 && l.info.Payload <= lroHeader &&
		int(l.info.End) == len(b) && len(b) > int(l.info.Payload) &&
		tcp.Flags()&^(header.TCPAck|header.TCPPsh) == 0 &&
		(options == 0 || options == stampBytes && hasStamp(b[l.info.Payload-stampBytes:]))
}

// stampBytes is the length of two NOPs and a timestamp, as senders place it
// (RFC 7323 appendix A).
const stampBytes = 12

func hasStamp(b []byte) bool { return binary.BigEndian.Uint32(b) == 0x0101080a }

// open begins the session with a segment.
func (s *session) open(q *queue, l *label, b []byte) {
	tcp := header.TCPAt(b, int(l.info.L4))
	copy(s.headers[:], b[:l.info.Payload])
	s.packet = s.packet[:0]
	if l.stripped() {
		s.packet = append(s.packet, b[:header.TagOffset]...)
		s.packet = append(s.packet, b[header.TagOffset+header.VLANBytes:l.info.Payload]...)
	} else {
		s.packet = append(s.packet, b[:l.info.Payload]...)
	}
	s.q, s.label, s.start = q, *l, l.time
	s.segs, s.sum, s.odd, s.psh, s.ce = 0, 0, false, false, false
	s.minTTL, s.seq = 255, tcp.Seq()
	s.add(l, b)
}

// follows says whether the segment goes on where the session ends: the same
// flow and header fields, the next sequence number, a timestamp that is not
// older, within size and time.
func (s *session) follows(l *label, b []byte) bool {
	net, l4, payload := int(l.info.Net), int(l.info.L4), int(l.info.Payload)
	if l.info.Net != s.label.info.Net || l.info.L4 != s.label.info.L4 ||
		l.info.Payload != s.label.info.Payload || l.types.L4() != s.label.types.L4() ||
		!bytes.Equal(b[:net], s.headers[:net]) || !s.sameNet(b, net) {
		return false
	}
	tcp, first := header.TCPAt(b, l4), header.TCPAt(s.headers[:], l4)
	if tcp.Ports() != first.Ports() || tcp.Seq() != s.seq || l.time-s.start >= lroTimeoutNs ||
		len(s.packet)+int(l.info.End)-payload > lroBytes {
		return false
	}
	return payload-l4 == header.TCPBytes || int32(stampOf(b, payload)-s.stamp) >= 0
}

// sameNet compares what must be alike in two network headers: all but length,
// ID, TTL and checksum.
func (s *session) sameNet(b []byte, net int) bool {
	if s.label.info.Version == 4 {
		x, y := header.IPv4At(b, net), header.IPv4At(s.headers[:], net)
		return x[0] == y[0] && x.TOS() == y.TOS() && x.Fragment() == y.Fragment() &&
			*x.Src() == *y.Src() && *x.Dst() == *y.Dst()
	}
	x, y := header.IPv6At(b, net), header.IPv6At(s.headers[:], net)
	return [4]byte(x[:4]) == [4]byte(y[:4]) && *x.Src() == *y.Src() && *x.Dst() == *y.Dst()
}

// stampOf reads the timestamp value in front of the payload.
func stampOf(b []byte, payload int) uint32 { return binary.BigEndian.Uint32(b[payload-8:]) }

// add appends the payload of a segment.
func (s *session) add(l *label, b []byte) {
	net, payload, end := int(l.info.Net), int(l.info.Payload), int(l.info.End)
	tcp := header.TCPAt(b, int(l.info.L4))
	ttl := b[net+8]
	if l.info.Version == 6 {
		ttl = b[net+7]
	}
	s.packet = append(s.packet, b[payload:end]...)
	s.sum = checksum.Combine(s.sum, checksum.Sum(b[payload:end]), s.odd)
	s.odd = s.odd != ((end-payload)&1 != 0)
	s.seq += uint32(end - payload)
	s.ack, s.window = tcp.Ack(), tcp.Window()
	s.psh = s.psh || tcp.Flags()&header.TCPPsh != 0
	s.ce = s.ce || l.ce
	s.minTTL = min(s.minTTL, ttl)
	s.stamp = stampOf(b, payload)
	s.segs++
}

// flush ends session i and delivers its packet.
func (m *merger) flush(i int) {
	s := m.sessions[i]
	copy(m.sessions[i:m.n], m.sessions[i+1:m.n])
	m.n--
	m.sessions[m.n] = s
	m.cqe = desc.CQE{}
	s.label.ce = s.ce
	s.label.write(&m.cqe, m.dev.features)
	if s.segs > 1 {
		s.write(&m.cqe)
		m.dev.count.merged++
		m.dev.count.segments += uint64(s.segs)
	}
	if fate := s.q.receive(s.packet, nil, &m.cqe, s.segs); fate != delivered {
		m.dev.count.fates[fate] += uint64(s.segs)
	}
}

// write puts what merging changed into the completion. The checksum is that of
// the payload: the driver completes it with the headers it rewrites.
func (s *session) write(c *desc.CQE) {
	c.SetLROSegs(uint8(s.segs))
	c.SetLROMinTTL(s.minTTL)
	c.SetLROAck(s.ack)
	c.SetLROWindow(s.window)
	c.SetLROPush(s.psh)
	c.SetCheckSum(s.sum)
}

// flushAll ends all sessions, oldest first.
func (m *merger) flushAll() {
	for m.n > 0 {
		m.flush(0)
	}
}
