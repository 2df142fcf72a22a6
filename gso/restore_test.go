package gso

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

var timestamps = []byte{1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6}

// Flags of TCP segments in these tests.
const (
	midFlags   = 0x50 // ACK, ECE
	firstFlags = midFlags | header.TCPCwr
	lastFlags  = midFlags | header.TCPPsh | header.TCPFin
)

// segments makes what must come out for payload cut into pieces of size.
func (s *stack) segments(payload []byte, size int, seq uint32) (segs [][]byte) {
	for i := 0; i == 0 || len(payload) > 0; i++ {
		n := min(size, len(payload))
		flags := byte(midFlags)
		if i == 0 && s.typ == packet.GSOTCPv4 {
			flags = firstFlags
		}
		if n == len(payload) {
			flags |= lastFlags
		}
		segs = append(segs, s.segment(i, seq, flags, timestamps, payload[:n]))
		seq, payload = seq+uint32(size), payload[n:]
	}
	return segs
}

func random(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// Every stack, cut at lengths that end even, odd, full, short and in a single
// segment, comes out as it was built, whatever the payload lies in. The
// checksum handed over is nonsense, and nobody says how many segments there are
// (facts/gro.md G 2, 25, 26, 56).
func TestRestores(t *testing.T) {
	rnd := testenv.Rand(testenv.Seed(t), 0)
	lengths := []struct{ size, bytes int }{
		{1000, 3500}, {1000, 4000}, {1000, 4001}, {999, 5000}, {1, 30}, {1448, 44 * 1448},
		{1000, 1000}, {1000, 10}, {1000, 1001}, {7, 700}, {1000, 0},
	}
	for i := range stacks {
		s := &stacks[i]
		t.Run(s.name, func(t *testing.T) {
			for _, l := range lengths {
				want := s.segments(random(rnd, l.bytes), l.size, rnd.Uint32())
				g := s.gso(l.size, timestamps)
				head, payload := merge(want, g, s.spoil)
				linear := rnd.IntN(len(payload) + 1) // payload that lies behind the headers
				head = append(head, payload[:linear]...)
				checkCut(t, s, head, shred(rnd, payload[linear:]), g, want)
			}
		})
	}
}

func checkCut(t *testing.T, s *stack, head []byte, payload [][]byte, g packet.GSO, want [][]byte) {
	t.Helper()
	bufs, sizes := buffers(len(want)+1, len(want[0])+8)
	n, err := Cut(s.link, head, payload, g, bufs, sizes)
	if err != nil || n != len(want) {
		t.Fatalf("size %d: %d segments, %v; want %d", g.Size, n, err, len(want))
	}
	for i, w := range want {
		if got := bufs[i][:sizes[i]]; !bytes.Equal(got, w) {
			t.Fatalf("size %d: segment %d of %d is\n%x, want\n%x", g.Size, i, n, got, w)
		}
	}
	for i, b := range bufs {
		if tail := b[sizes[i]:]; bytes.Count(tail, []byte{0xa5}) != len(tail) {
			t.Fatalf("size %d: bytes behind segment %d were written", g.Size, i)
		}
	}
}

// A packet that is not marked comes out as it is.
func TestPlain(t *testing.T) {
	frame := named("ip4").segment(0, 1, midFlags, nil, []byte("abc"))
	bufs, sizes := buffers(1, len(frame))
	payload := [][]byte{frame[20:21], frame[21:]}
	n, err := Cut(eth, frame[:20], payload, packet.GSO{}, bufs, sizes)
	if n != 1 || err != nil || !bytes.Equal(bufs[0][:sizes[0]], frame) {
		t.Errorf("%d segments, %v: %x, want %x", n, err, bufs[0], frame)
	}
}

// Of no bytes there is no segment.
func TestNothing(t *testing.T) {
	bufs, sizes := buffers(1, 10)
	if n, err := Cut(eth, nil, [][]byte{nil}, packet.GSO{}, bufs, sizes); n != 0 || err != nil {
		t.Errorf("%d segments, %v", n, err)
	}
}

// A packet that only misses its checksum gets it.
func TestPartialChecksum(t *testing.T) {
	for _, s := range []*stack{named("ip4"), named("udp4")} {
		want := s.segment(0, 1, midFlags, nil, []byte("abc"))
		g := s.gso(0, nil)
		at := int(g.CSumStart + g.CSumOffset)
		head := bytes.Clone(want)
		pseudo := pseudoBytes(s.addrs(), head[23], len(want)-int(g.CSumStart))
		be.PutUint16(head[at:], ^rfc1071(pseudo))
		bufs, sizes := buffers(1, len(want))
		part := packet.GSO{CSumStart: g.CSumStart, CSumOffset: g.CSumOffset}
		if n, err := Cut(s.link, head, nil, part, bufs, sizes); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if !bytes.Equal(bufs[0], want) {
			t.Errorf("%s: %x, want %x", s.name, bufs[0], want)
		}
	}
}

// A sum of zero is sent as ones by UDP and as zero by TCP.
func TestZeroChecksum(t *testing.T) {
	for _, tt := range []struct {
		s    *stack
		want uint16
	}{{named("ip4"), 0}, {named("udp4"), 0xffff}} {
		payload := []byte{0, 0, 0, 0}
		plain := tt.s.segment(0, 1, midFlags, nil, payload)
		g := tt.s.gso(4, nil)
		at := int(g.CSumStart + g.CSumOffset)
		be.PutUint16(payload, be.Uint16(plain[at:])) // the sum less the field is then all ones
		want := tt.s.segment(0, 1, midFlags, nil, payload)
		if got := be.Uint16(want[at:]); got != tt.want {
			t.Fatalf("%s: the test made checksum %#x", tt.s.name, got)
		}
		head, rest := merge([][]byte{want}, g, tt.s.spoil)
		checkCut(t, tt.s, head, [][]byte{rest}, g, [][]byte{want})
	}
}
