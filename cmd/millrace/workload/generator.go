package workload

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// A Generator sends frames without end, or a given number of them.
type Generator struct {
	// Hot: touched for every frame.
	flow   *flow
	shape  *shape
	burst  int // frames left of the burst of flow
	remain uint64
	// Warm: once per burst.
	flows  []flow
	shapes []shape // flow i has shape i modulo their number
	next   int     // index of the next flow
	cfg    Config
}

// A flow is one connection. Its headers are complete but for what patch fills.
type flow struct {
	headers  [maxHeader]byte
	seq      uint32
	id       uint16 // IPv4 identification, of both headers in a tunnel
	ipSum    uint32 // sums of what stays: the IP header,
	outerSum uint32 // that of the tunnel,
	l4Sum    uint32 // pseudo header, transport header and payload
}

// A shape is what flows of one protocol share.
type shape struct {
	layout
	size  int
	frame []byte // headers of the last flow, payload
}

// NewGenerator makes a generator that ends after count frames; 0 means never.
func NewGenerator(c Config, count uint64) (*Generator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if count == 0 {
		count = 1<<64 - 1
	}
	g := &Generator{cfg: c, remain: count, flows: make([]flow, c.Flows)}
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	for _, tcp := range c.protocols() {
		l := c.layout(tcp)
		s := shape{layout: l, size: c.size(l)}
		s.frame = make([]byte, l.bytes+s.size)
		for i := range s.frame {
			s.frame[i] = byte(rng.Uint32())
		}
		g.shapes = append(g.shapes, s)
	}
	for i := range g.flows {
		g.open(i, rng)
	}
	return g, nil
}

// open prepares flow i.
func (g *Generator) open(i int, rng *rand.Rand) {
	f, s := &g.flows[i], &g.shapes[i%len(g.shapes)]
	h := f.headers[:s.bytes]
	g.cfg.write(h, s.layout, i, s.size)
	f.seq, f.id = rng.Uint32(), uint16(rng.Uint32())
	if !s.ipv6 {
		f.ipSum = uint32(checksum.Sum(h[s.ip:s.l4]))
	}
	if s.outer != 0 {
		f.outerSum = uint32(checksum.Sum(h[s.outer : s.outer+header.IPv4Bytes]))
	}
	// Every header has an even length: no part starts at an odd offset.
	sum := checksum.Combine(s.pseudo(h, s.size), checksum.Sum(h[s.l4:]), false)
	sum = checksum.Combine(sum, checksum.Sum(s.frame[s.bytes:]), false)
	f.l4Sum = uint32(sum)
	if !s.tcp {
		header.UDPAt(h, s.l4).SetChecksum(nonZero(^sum))
	}
}

// nonZero is the UDP checksum: zero would mean that there is none (RFC 768).
func nonZero(sum uint16) uint16 {
	if sum == 0 {
		return 0xffff
	}
	return sum
}

// Next lends the next frame until it is called again. False means that all
// were sent.
func (g *Generator) Next(_ int64, out *nic.Frame) bool {
	if g.remain == 0 {
		return false
	}
	g.remain--
	if g.burst == 0 {
		g.turn()
	}
	g.burst--
	f, s := g.flow, g.shape
	f.patch(s, g.burst == 0)
	copy(s.frame, f.headers[:s.bytes])
	out.Data, out.Link, out.Time = s.frame, header.LinkEthernet, 0
	return true
}

// turn goes on to the next flow.
func (g *Generator) turn() {
	g.flow, g.shape = &g.flows[g.next], &g.shapes[g.next%len(g.shapes)]
	if g.next++; g.next == len(g.flows) {
		g.next = 0
	}
	g.burst = g.cfg.Burst
}

// push is what PSH adds to the sum of a TCP header: a bit in the second byte
// of a word.
const push = header.TCPPsh

// patch fills in what the frame has of its own. last says that the burst ends
// with it.
func (f *flow) patch(s *shape, last bool) {
	if s.outer != 0 {
		setID(f.headers[:], s.outer, f.id, f.outerSum)
	}
	if !s.ipv6 {
		setID(f.headers[:], s.ip, f.id, f.ipSum)
	}
	f.id++
	if !s.tcp {
		return
	}
	h := (*[tcpBytes]byte)(f.headers[s.l4:])
	sum := f.l4Sum + f.seq>>16 + f.seq&0xffff
	h[13] = header.TCPAck
	if last {
		h[13] |= push
		sum += push
	}
	binary.BigEndian.PutUint32(h[4:], f.seq)
	binary.BigEndian.PutUint16(h[16:], ^fold(sum))
	f.seq += uint32(s.size)
}

// setID gives the IPv4 header at off its identification and checksum.
func setID(h []byte, off int, id uint16, sum uint32) {
	ip := header.IPv4At(h, off)
	ip.SetID(id)
	ip.SetChecksum(^fold(sum + uint32(id)))
}

func fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	return uint16(sum>>16 + sum)
}
