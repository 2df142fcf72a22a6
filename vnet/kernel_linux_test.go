package vnet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-net/millrace/internal/testenv"
)

// A try is one packet for the kernel and for us.
type try struct {
	hdr   Header
	frame []byte
}

// randomTry makes a packet that Linux cuts.
func randomTry(rnd *rand.Rand) try {
	n := 1 + rnd.IntN(1<<(2+rnd.IntN(14)))
	size := min(8000, 1+n/(1+rnd.IntN(100)))
	flags := uint8(NeedsCSum)
	if rnd.IntN(8) == 0 {
		flags = 0
	}
	var options []byte
	if rnd.IntN(2) == 0 {
		options = []byte{1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6}
	}
	if n <= size && n+len(options) > size {
		n = size + 1 // Linux drops what fits only without the options; we do not
	}
	var t try
	l4 := tcp(n, uint8(rnd.Uint32()))
	be.PutUint32(l4[4:], rnd.Uint32())
	l4[12] = byte(5+len(options)/4)<<4 | byte(rnd.IntN(16))
	l4 = append(append(l4[:20:20], options...), l4[20:]...)
	fill(rnd, l4[20+len(options):])
	switch rnd.IntN(5) {
	case 0, 1:
		t = try{hdr(flags, GSOTCPv4, size, 34, 16, rnd.IntN(100)), ip4(6, l4, uint16(rnd.Uint32()))}
	case 2:
		t = try{hdr(flags, GSOTCPv6, size, 54, 16, 0), ip6(6, l4)}
	case 3:
		ext := []byte{6, 0, 1, 4, 0, 0, 0, 0}
		t = try{hdr(flags, GSOTCPv6, size, 62, 16, 0), ip6(6, l4, ext...)}
	case 4:
		b := udp(n)
		fill(rnd, b[8:])
		t = try{hdr(NeedsCSum, GSOUDP, size, 34, 6, 0), ip4(17, b, uint16(rnd.Uint32()))}
	}
	if rnd.IntN(4) == 0 {
		t.hdr.SetGSOType(t.hdr.GSOType() | GSOECN)
	}
	return t
}

func fill(rnd *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
}

// spoil changes one field of the header.
func (t *try) spoil(rnd *rand.Rand) {
	h := &t.hdr
	switch rnd.IntN(6) {
	case 0:
		h.SetGSOType(uint8(rnd.Uint32()) & 0x87)
	case 1:
		h.SetGSOSize([]uint16{0, SizeByFrags}[rnd.IntN(2)])
	case 2:
		h.SetCSumStart(h.CSumStart() + uint16(rnd.IntN(9)) - 4)
	case 3:
		h.SetCSumOffset(uint16(rnd.IntN(20)))
	case 4:
		h.SetFlags(0)
	case 5:
		h.SetCSumStart(uint16(len(t.frame) - rnd.IntN(20)))
	}
}

// The running kernel cuts random packets as we do and refuses what we refuse.
func TestKernel(t *testing.T) {
	seed := testenv.Seed(t)
	testenv.NewNet(t)
	k := testenv.OpenKernelGSO(t, 9000)
	end := time.Now().Add(4 * time.Second)
	n, segs := 0, 0
	for ; n < 6000 && time.Now().Before(end); n++ {
		rnd := testenv.Rand(seed, uint64(n))
		c := randomTry(rnd)
		if rnd.IntN(4) == 0 {
			c.spoil(rnd)
		}
		if c.hdr.GSOType()&^GSOECN == GSOUFO || tooMany(c) {
			continue
		}
		segs += compare(t, k, c)
		if t.Failed() {
			t.Fatalf("case %d: header %x, frame of %d bytes %x", n, c.hdr, len(c.frame),
				c.frame[:min(len(c.frame), 100)])
		}
	}
	t.Logf("%d packets, %d segments", n, segs)
}

// Linux restores what GRO merged, told by For: frames on a wire, merged, and
// written to a packet socket come out as the same frames.
func TestKernelRestores(t *testing.T) {
	seed := testenv.Seed(t)
	testenv.NewNet(t)
	k := testenv.OpenKernelGSO(t, 9000)
	aggregates := 0
	for n := range 300 {
		c := randomTry(testenv.Rand(seed, uint64(n)))
		if tooMany(c) {
			continue
		}
		c.hdr.SetHdrLen(0)
		c.hdr.SetGSOType(c.hdr.GSOType() &^ GSOECN)
		if c.hdr.GSOType() != GSOUDP {
			c.frame[c.hdr.CSumStart()+13] &= 0x58 // ECE, ACK, PSH: others are not merged
		}
		in, err := cut(c.hdr, c.frame)
		if err != nil {
			t.Fatal(err)
		}
		var out [][]byte
		hdrs, packets := merge(t, in)
		for i, h := range hdrs {
			segs, err := k.Run(h, packets[i])
			if err != nil {
				t.Fatalf("case %d: header %x for %d bytes: %v", n, h, len(packets[i]), err)
			}
			for _, s := range segs {
				out = append(out, s.Data)
			}
			aggregates += int(h.Flags() & NeedsCSum)
		}
		if !slices.EqualFunc(in, out, bytes.Equal) {
			t.Fatalf("case %d: %d frames, %d came out, headers %x", n, len(in), len(out), hdrs)
		}
	}
	t.Logf("%d aggregates", aggregates)
}

// tooMany tells whether the segments would overflow a socket's queue.
func tooMany(c try) bool { return len(c.frame) > 1000*max(1, int(c.hdr.GSOSize())) }

// compare has the packet cut by both, and returns the number of segments.
func compare(t *testing.T, k *testenv.KernelGSO, c try) int {
	want, wantErr := k.Run(c.hdr, c.frame)
	got, err := cut(c.hdr, c.frame)
	if errors.Is(wantErr, unix.EMSGSIZE) {
		return 0 // longer than the MTU, and not marked
	}
	if err != nil && len(want) == 1 && c.hdr.GSOType() != GSONone {
		return 0 // Linux looks less closely at what needs no cutting
	}
	if (wantErr != nil || len(want) == 0) != (err != nil) {
		t.Errorf("Linux: %d segments, %v; we: %d segments, %v", len(want), wantErr, len(got), err)
		return 0
	}
	if len(got) != len(want) {
		t.Errorf("%d segments, Linux %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i].Data) {
			t.Errorf("segment %d of %d: %x, Linux %x", i, len(got), got[i], want[i].Data)
			break
		}
	}
	return len(got)
}
