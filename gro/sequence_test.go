package gro

import (
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// A stream makes frames of one connection, each the next of the one before,
// some of them with something changed.
type stream struct {
	ip      ipHdr
	tcp     tcpSeg
	udp     bool
	fixedID bool
}

func newStream(r *rand.Rand, addr byte, udp bool) *stream {
	s := &stream{fixedID: r.IntN(4) == 0, udp: udp}
	s.ip = ipHdr{addr: addr, v6: r.IntN(3) == 0, id: r.IntN(1 << 16), df0: r.IntN(3) == 0}
	s.tcp = tcpSeg{seq: int(r.Uint32()), n: 1 + r.IntN(200)}
	switch r.IntN(4) {
	case 0:
		s.tcp.options = []byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}
	case 1:
		s.tcp.options = []byte{1, 1, 1, 1}
	case 2:
		s.tcp.options = make([]byte, 4*r.IntN(11))
	}
	if s.ip.v6 && r.IntN(3) == 0 {
		s.ip.next, s.ip.ext = 60, make([]byte, 7)
	}
	return s
}

// frame is the next frame. One in three has something changed.
func (s *stream) frame(r *rand.Rand) []byte {
	ip, seg := s.ip, s.tcp
	if r.IntN(6) == 0 {
		seg.n = 1 + r.IntN(200)
	}
	if r.IntN(8) == 0 {
		seg.flags = header.TCPAck | header.TCPPsh
	}
	raw := func(f []byte) {}
	if r.IntN(3) == 0 {
		raw = change(r, &ip, &seg)
	}
	var f []byte
	if s.udp {
		f = udp4(ip, datagram{n: seg.n, src: seg.src, dst: seg.dst, zero: r.IntN(20) == 0})
	} else {
		f = tcp4(ip, seg)
	}
	raw(f)
	s.tcp.seq += seg.n
	if !s.fixedID {
		s.ip.id++
	}
	if r.IntN(25) == 0 {
		f = append(f, make([]byte, 1+r.IntN(6))...) // padding
	}
	return f
}

// change turns one thing of the next frame into another. What it returns does
// the same to the bytes.
func change(r *rand.Rand, ip *ipHdr, seg *tcpSeg) func([]byte) {
	raw := func([]byte) {}
	flags := []uint16{header.TCPFin, header.TCPSyn, header.TCPRst, header.TCPPsh, header.TCPUrg,
		header.TCPEce, header.TCPCwr, header.TCPAe, 0x200}
	switch r.IntN(20) {
	case 0:
		seg.seq += 1 - r.IntN(3)
	case 1:
		seg.ack = uint32(r.IntN(3))
	case 2:
		seg.window = 1000 - r.IntN(2)
	case 3, 4, 5:
		seg.flags = header.TCPAck | flags[r.IntN(len(flags))]
	case 6:
		ip.id += r.IntN(3)
	case 7:
		ip.ttl = 64 - r.IntN(2)
	case 8:
		ip.tos = r.IntN(4)
	case 9:
		ip.df0 = !ip.df0
	case 10:
		ip.label = uint32(r.IntN(2))
	case 11:
		seg.n = r.IntN(3)
	case 12:
		seg.bad = true
	case 13:
		ip.badSum = true
	case 14:
		seg.src = 1 + r.IntN(2)
	case 15:
		ip.options = []byte{1, 1, 1, 1}
	case 16:
		ip.fragment = 0x2000 | uint16(r.IntN(2)*5)
	case 17:
		seg.urgent = uint16(r.IntN(2))
	case 18:
		raw = func(f []byte) { f[11] ^= 1 } // source MAC address
	case 19:
		at := r.IntN(1 << 16)
		// Not the version: unlike here, Linux does not read that of IPv6.
		raw = func(f []byte) { f[15+at%(len(f)-15)] ^= 1 << (at % 8) }
	}
	return raw
}

// sequence is a few frames of some streams.
func sequence(r *rand.Rand, streams, frames int, udp bool) (out [][]byte) {
	all := make([]*stream, 1+r.IntN(streams))
	for i := range all {
		all[i] = newStream(r, byte(10*i), udp && r.IntN(2) == 0)
	}
	for range 2 + r.IntN(frames-1) {
		out = append(out, all[r.IntN(len(all))].frame(r))
	}
	return out
}

// Kinds of tunnels.
const (
	tunnelIP = iota
	tunnelKey
	tunnelSummed
	tunnelTEB
	tunnelVXLAN
	numTunnels
)

// inTunnels puts the frames into tunnels of one kind, the outer headers of some
// of them changed.
func inTunnels(r *rand.Rand, frames [][]byte, kind int, v6 bool) (out [][]byte) {
	outer := ipHdr{v6: v6, id: r.IntN(1 << 16), addr: 50}
	step, sum := r.IntN(2), r.IntN(2) == 0
	for _, f := range frames {
		h := outer
		switch r.IntN(20) {
		case 0:
			h.ttl = 63
		case 1:
			h.id += 7
		case 2:
			h.tos = 1
		}
		key := r.IntN(20) / 19
		switch kind {
		case tunnelIP:
			f = ipip(h, f)
		case tunnelKey:
			f = gre(h, header.GREKey, be(4, uint64(key)), f)
		case tunnelSummed:
			f = gre(h, header.GREChecksum, be(4, 0), f)
		case tunnelTEB:
			f = gretap(h, f)
		case tunnelVXLAN:
			f = vxlan(h, 7+key, 5000, sum && r.IntN(20) > 0, f)
		}
		outer.id += step
		out = append(out, f)
	}
	return out
}

// cases is how many random cases a test runs.
func cases(n int) int {
	if testing.Short() {
		n /= 10
	}
	return testenv.Seeds(n)
}
