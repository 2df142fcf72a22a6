package desc

import (
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"
)

// Byte for byte as facts/mlx5e.md 1.3 has it.
func TestControlSegment(t *testing.T) {
	var b SendBlock
	for i := range b {
		b[i] = 0xff
	}
	c := b.Control()
	c.Set(0xabcd, SendFrame, 0x123456, 23)
	if got, want := hex.EncodeToString(b[:16]), "00abcd0a12345617"+"0000000000000000"; got != want {
		t.Errorf("control segment %s, want %s", got, want)
	}
	if c.Index() != 0xabcd || c.Opcode() != SendFrame || c.Queue() != 0x123456 ||
		c.Segments() != 23 || c.Completes() {
		t.Errorf("read back: %#x %#x %#x %d %v",
			c.Index(), c.Opcode(), c.Queue(), c.Segments(), c.Completes())
	}
	if c.Complete(); b[11] != 0x08 || !c.Completes() {
		t.Errorf("CQ_UPDATE is %#x, want 0x08", b[11])
	}
	if b[11] = 0x0c; c.Completes() {
		t.Error("mode 3 asks for an event, too, which is not modelled")
	}
	if b[16] != 0xff {
		t.Error("Set wrote behind the segment")
	}
}

// The DS count has 6 bits: 64 would read as 0 (facts/mlx5e.md 12, bug 41).
func TestControlSegmentCount(t *testing.T) {
	var c ControlSegment
	for n, want := range map[int]int{1: 1, 63: 63, 64: 0} {
		if c.Set(0, SendFrame, 0, n); c.Segments() != want {
			t.Errorf("%d segments read as %d", n, c.Segments())
		}
	}
}

func TestEthSegment(t *testing.T) {
	var b SendBlock
	b[28], b[29] = 0x01, 0x6e
	if n := b.Eth().InlineBytes(); n != 366 {
		t.Errorf("%d inline bytes, want 366", n)
	}
	b.Data(3).Set(0x1234, 0x200, 0x1122334455667788)
	if got := hex.EncodeToString(b[48:]); got != "00001234000002001122334455667788" {
		t.Errorf("data segment %s", got)
	}
}

func TestSQ(t *testing.T) {
	cq, err := NewCQ(6, CompressNone, MiniCSum)
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewSQ(6, 7, cq)
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Blocks) != 64 || uintptr(unsafe.Pointer(&q.Blocks[0]))%64 != 0 {
		t.Errorf("%d blocks at %p", len(q.Blocks), &q.Blocks[0])
	}
	if q.At(65) != &q.Blocks[1] || q.State() != Reset {
		t.Error("counters wrap at the length; the queue begins in Reset")
	}
	for _, c := range []struct {
		log    int
		number uint32
		want   string
	}{
		{5, 0, "want 6 to 13"}, {14, 0, "want 6 to 13"}, {6, 1 << 24, "want 0 to 16777215"},
		{7, 0, "log of its CQ is 6, want 7"},
	} {
		_, err := NewSQ(c.log, c.number, cq)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("log %d, number %d: %v", c.log, c.number, err)
		}
	}
}

// A completion of a send queue names opcode and queue in bytes 56 to 59.
func TestSendCompletion(t *testing.T) {
	var c CQE
	c.SetSend(SendFrame, 0xabcdef)
	if got := hex.EncodeToString(c[56:60]); got != "0aabcdef" {
		t.Errorf("bytes 56 to 59 are %s", got)
	}
	if c.SendOpcode() != SendFrame || c.Queue() != 0xabcdef {
		t.Errorf("read back %#x %#x", c.SendOpcode(), c.Queue())
	}
}
