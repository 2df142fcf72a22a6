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
	if c.Wakes() {
		t.Error("CQ_UPDATE asks for an event at once")
	}
	if b[11] = 0x0c; !c.Completes() || !c.Wakes() {
		t.Error("mode 3 asks for a completion and an event")
	}
	if b[11] = 0x04; c.Completes() || c.Wakes() {
		t.Error("mode 1 asks for nothing")
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

// Byte for byte as facts/mlx5e.md 1.4 has it.
func TestEthSegment(t *testing.T) {
	var e EthSegment
	for want, set := range map[string]func(){
		"00000000c000000000000000" + "00000000": func() { e.Set(SendCSumL3|SendCSumL4, 0) },
		"00000000300005b400000000" + "00000000": func() {
			e.Set(SendCSumInnerL3|SendCSumInnerL4, 1460)
		},
		"000000000000000000000000" + "016e0000": func() { e.Set(0, 0); e.SetInline(366) },
		"000000000000000000000000" + "03ff0000": func() { e.Set(0, 0); e.SetInline(1023) },
		"000000000000000000000000" + "8000a123": func() { e.Set(0, 0); e.InsertTag(0xa123, false) },
		"000000000000000000000000" + "80010005": func() { e.Set(0, 0); e.InsertTag(5, true) },
	} {
		for i := range e {
			e[i] = 0xff
		}
		if set(); hex.EncodeToString(e[:]) != want {
			t.Errorf("%x, want %s", e, want)
		}
	}
	e.Set(0x50, 9)
	e.SetInline(366)
	if _, _, ok := e.Tag(); ok || e.CSum() != 0x50 || e.MSS() != 9 || e.InlineBytes() != 366 {
		t.Errorf("read back %#x %d %d, tag %v", e.CSum(), e.MSS(), e.InlineBytes(), ok)
	}
	e.InsertTag(0xfffe, true)
	if tci, service, ok := e.Tag(); tci != 0xfffe || !service || !ok || e.InlineBytes() != 0 {
		t.Errorf("tag %#x %v %v, %d inline bytes", tci, service, ok, e.InlineBytes())
	}
}

// ceil((n-2)/16) segments behind the first two bytes (facts/mlx5e.md 1.4, 14).
func TestInlineSegments(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 2: 0, 3: 1, 18: 1, 19: 2, 66: 4, 70: 5, 366: 23} {
		if got := InlineSegments(n); got != want {
			t.Errorf("%d bytes: %d segments, want %d", n, got, want)
		}
	}
}

// Pointers and inline data (facts/mlx5e.md 1.5).
func TestSendData(t *testing.T) {
	var b SendBlock
	d := b.Data(3)
	d.Set(0x1234, 0x200, 0x1122334455667788)
	if got := hex.EncodeToString(b[48:]); got != "00001234000002001122334455667788" {
		t.Errorf("data segment %s", got)
	}
	if n, ok := d.InlineBytes(); ok || n != 0x234 {
		t.Errorf("a pointer is inline: %v", ok)
	}
	d.SetInline(252)
	if got := hex.EncodeToString(b[48:56]); got != "800000fc00000200" {
		t.Errorf("inline segment %s", got)
	}
	if n, ok := d.InlineBytes(); !ok || n != 252 || InlineDataStart != 4 {
		t.Errorf("%d inline bytes, %v", n, ok)
	}
}

// A fragment ends at 4 KiB, and is nobody else's memory.
func TestFragment(t *testing.T) {
	cq := newCQ(t, 7, CompressNone)
	q, err := NewSQ(7, 7, cq)
	if err != nil {
		t.Fatal(err)
	}
	for counter, want := range map[uint32]int{
		0: 4096, 1: 4032, 63: 64, 64: 4096, 127: 64, 128: 4096,
	} {
		b := q.Fragment(counter)
		if len(b) != want || cap(b) != want || &b[0] != &q.At(counter)[0] {
			t.Errorf("counter %d: %d bytes, room for %d, want %d", counter, len(b), cap(b), want)
		}
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

func TestMinInlineNames(t *testing.T) {
	for m, want := range map[MinInline]string{
		InlineNone: "none", InlineL2: "l2", InlineIP: "ip", InlineTCPUDP: "tcp-udp",
		NumMinInline: "desc.MinInline(4)",
	} {
		if m.String() != want {
			t.Errorf("%v, want %s", m, want)
		}
	}
}
