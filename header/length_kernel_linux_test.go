package header

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-net/millrace/internal/testenv"
)

// An oracle asks the running kernel for the payload offset of frames: a packet
// filter returns it, and so the length of what is received is the answer
// (facts/gro.md 0).
type oracle struct {
	tap  *testenv.TAP
	sock *testenv.PacketSocket
}

func openOracle(t *testing.T) oracle {
	t.Helper()
	testenv.NewNet(t)
	o := oracle{tap: testenv.OpenTAP(t, "len0", 0)}
	testenv.UpLink(t, "len0", 65521, testenv.KernelMAC)
	o.sock = testenv.OpenPacket(t, "len0", false)
	const payloadOffset = 0xffff_f000 + 52 // SKF_AD_OFF + SKF_AD_PAY_OFFSET
	err := o.sock.Filter([]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: payloadOffset},
		{Code: unix.BPF_RET | unix.BPF_A},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// length is the kernel's answer; 0: its dissector failed.
func (o oracle) length(t *testing.T, frame []byte) int {
	t.Helper()
	if err := o.tap.Write(frame); err != nil {
		t.Fatalf("write %d bytes: %v", len(frame), err)
	}
	p, ok := o.sock.Receive(0)
	switch {
	case !ok:
		return 0
	case p.TPID != 0: // the kernel took the tag off before it counted
		return len(p.Data) + VLANBytes
	}
	return len(p.Data)
}

// The kernel drops a tagged frame that ends before the next EtherType and two
// more bytes.
func dropped(frame []byte) bool {
	typ := binary.BigEndian.Uint16(frame[12:])
	return (typ == TypeVLAN || typ == TypeQinQ) && len(frame) < 20
}

func (o oracle) check(t *testing.T, frame []byte) bool {
	t.Helper()
	if len(frame) < EthernetBytes || len(frame) > 65535 || dropped(frame) {
		return true
	}
	want, got := o.length(t, frame), Length(LinkEthernet, frame)
	start := place{off: EthernetBytes, typ: LinkEthernet.netType(frame)}
	_, known := start.walk(frame)
	if known && got == want || !known && want == 0 {
		return true
	}
	t.Errorf("length %d (known: %v), kernel says %d\n%x", got, known, want, frame)
	return false
}

func TestLengthKernel(t *testing.T) {
	o := openOracle(t)
	seed := testenv.Seed(t)
	bad := 0
	for i := range uint64(6000) {
		s := source{Rand: testenv.Rand(seed, i)}
		if !o.check(t, s.frame()) {
			if bad++; bad == 10 {
				t.Fatal("more differ")
			}
		}
	}
}

// The synthetic cases are what the kernel says, too.
func TestLengthKernelSynthetic(t *testing.T) {
	o := openOracle(t)
	for _, tt := range lengthCases {
		o.check(t, tt.frame)
	}
	for _, tt := range tunnelCases {
		o.check(t, cat(eth(TypeIPv4), ip4(ProtoGRE, 0, 0, tt.inner)))
	}
}

// Frames of the captures with bytes changed at random, cut at random.
func TestLengthKernelCaptures(t *testing.T) {
	frames := captureFrames(t)
	o := openOracle(t)
	seed := testenv.Seed(t)
	bad := 0
	for i := range uint64(4000) {
		r := testenv.Rand(seed, i)
		frame := append([]byte{}, frames[r.IntN(len(frames))]...)
		for range r.IntN(4) {
			frame[r.IntN(min(len(frame), 120))] = byte(r.Uint32())
		}
		if r.IntN(3) == 0 {
			frame = frame[:r.IntN(min(len(frame), 150))]
		}
		if !o.check(t, frame) {
			if bad++; bad == 10 {
				t.Fatal("more differ")
			}
		}
	}
}
