package port

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// traffic is a wire of a few TCP and UDP flows and of noise. It remembers what
// it sent, so that a test can ask for every frame once.
type traffic struct {
	rand  *rand.Rand
	left  int
	most  int // longest frame
	flows []flow
	sent  map[string]int
	buf   []byte
}

type flow struct {
	seq  uint32
	id   uint16
	port uint16
	v6   bool
	udp  bool
	push bool
	size int
}

func newTraffic(r *rand.Rand, frames, most int) *traffic {
	t := &traffic{rand: r, left: frames, most: most, sent: map[string]int{}}
	for i := range 1 + r.IntN(12) {
		t.flows = append(t.flows, flow{
			seq: r.Uint32(), id: uint16(r.Uint32()), port: uint16(1000 + i),
			v6: r.IntN(3) == 0, udp: r.IntN(4) == 0, size: 1 + r.IntN(max(1, most-86)),
		})
	}
	return t
}

func (t *traffic) Next(_ int64, f *nic.Frame) bool {
	if t.left == 0 || t.rand.IntN(16) == 0 {
		return false
	}
	t.left--
	switch t.rand.IntN(16) {
	case 0:
		t.buf = t.noise()
	default:
		t.buf = t.flows[t.rand.IntN(len(t.flows))].next(t.rand)
	}
	t.sent[string(t.buf)]++
	*f = nic.Frame{Data: t.buf, Link: header.LinkEthernet}
	return true
}

// noise is a frame that is no packet, or too long.
func (t *traffic) noise() []byte {
	b := make([]byte, t.rand.IntN(t.most+t.most/4))
	for i := range b {
		b[i] = byte(t.rand.Uint32())
	}
	return b
}

// next is the flow's next frame; now and then it is short, leaves a gap or
// spoils the checksum.
func (f *flow) next(r *rand.Rand) []byte {
	whole := f.size
	if r.IntN(8) == 0 {
		f.size = r.IntN(f.size + 1)
	}
	f.push = r.IntN(8) == 0
	b := f.plain()
	f.size = whole
	if r.IntN(16) == 0 {
		f.seq += uint32(r.IntN(3000))
	}
	if r.IntN(32) == 0 {
		b[len(b)-1] ^= 1
	}
	return b
}

// plain is the flow's next frame as it should be.
func (f *flow) plain() []byte {
	net, l4, typ := header.IPv4Bytes, header.TCPBytes, uint16(header.TypeIPv4)
	if f.v6 {
		net, typ = header.IPv6Bytes, header.TypeIPv6
	}
	if f.udp {
		l4 = header.UDPBytes
	}
	b := make([]byte, header.EthernetBytes+net+l4+f.size)
	binary.BigEndian.PutUint16(b[12:], typ)
	for i := header.EthernetBytes + net + l4; i < len(b); i++ {
		b[i] = byte(uint32(i) * (f.seq | 1) >> 3)
	}
	sum := f.network(b[header.EthernetBytes:], l4+f.size)
	f.transport(b[header.EthernetBytes+net:], sum)
	f.seq += uint32(f.size)
	f.id++
	return b
}

// network writes the IP header in front of n bytes and gives the sum of the
// pseudo header.
func (f *flow) network(b []byte, n int) uint16 {
	proto := uint8(header.ProtoTCP)
	if f.udp {
		proto = header.ProtoUDP
	}
	if f.v6 {
		b[0], b[6], b[7], b[23], b[39] = 0x60, proto, 64, 1, 2
		binary.BigEndian.PutUint16(b[4:], uint16(n))
		return checksum.Pseudo6(b[8:24], b[24:40], proto, n)
	}
	b[0], b[6], b[8], b[9], b[12], b[15], b[16], b[19] = 0x45, 0x40, 64, proto, 10, 1, 10, 2
	binary.BigEndian.PutUint16(b[2:], uint16(20+n))
	binary.BigEndian.PutUint16(b[4:], f.id)
	binary.BigEndian.PutUint16(b[10:], ^checksum.Sum(b[:20]))
	return checksum.Pseudo4(b[12:16], b[16:20], proto, n)
}

func (f *flow) transport(b []byte, pseudo uint16) {
	binary.BigEndian.PutUint16(b[0:], f.port)
	binary.BigEndian.PutUint16(b[2:], 80)
	at := 16
	if f.udp {
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
		at = 6
	} else {
		binary.BigEndian.PutUint32(b[4:], f.seq)
		b[12], b[13], b[14] = 5<<4, 0x10, 8
		if f.push {
			b[13] |= 8
		}
	}
	binary.BigEndian.PutUint16(b[at:], ^checksum.Combine(pseudo, checksum.Sum(b), false))
}
