package rx

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// The frame of a cyclic queue with several segments goes on in the others; the
// first buffer is the head (facts/mlx5e.md 3.2).
func TestCyclicFrags(t *testing.T) {
	q, d := open(t, Config{Type: Cyclic, MTU: 9000}, poisoned())
	b, p := one(t, q, d, tcpFrame(9014))
	if p.HeadKind != packet.HeadPage || p.Linear != 1664 || p.Room != 2048-320 || p.Len != 9014 {
		t.Errorf("%+v", p)
	}
	want := []cut{{0, 2048, 2048}, {1, 0, 2048}, {2, 0, 3254}}
	if got := cuts(q, p); !equalCuts(got, want) {
		t.Errorf("fragments %v, want %v", got, want)
	}
	if p.Truesize != 2048+128+2048+2048+4096 {
		t.Errorf("truesize %d", p.Truesize)
	}
	if q.pages[0].Given != 2 || q.pages[1].Given != 1 || q.pages[2].Given != 1 {
		t.Errorf("references %d %d %d", q.pages[0].Given, q.pages[1].Given, q.pages[2].Given)
	}
	q.Free(b)
	b, p = one(t, q, d, tcpFrame(1664))
	if p.Shared().NumFrags != 0 || p.Linear != 1664 {
		t.Errorf("a frame of the first segment: %+v", p)
	}
	q.Free(b)
}

// Two WQEs of three segments share three pages. A refill stops in front of a
// WQE whose page is still in use by an older one (facts/mlx5e.md 3.2).
func TestCyclicSharedPages(t *testing.T) {
	// 13 pages: the ring of 12 and one more, so a refill needs what is freed.
	cfg := Config{Type: Cyclic, MTU: 5700, Entries: 8, Memory: Memory{Pages: 13}}
	q, d := open(t, cfg, poisoned())
	frame := tcpFrame(5714)
	for i := range 50 {
		b, _ := one(t, q, d, frame)
		q.Free(b)
		if used := int(q.counter) - int(q.posted); used != i+1 || q.counter%2 != 0 {
			t.Fatalf("after %d frames: %d used, %d posted", i+1, used, q.counter)
		}
	}
}

// Every MTU and page size carries frames of all lengths, twice around the ring
// and with packets held on to: nobody writes where a packet is.
func TestCyclicHeldPackets(t *testing.T) {
	for _, mem := range []Memory{{}, {PageBytes: 16384}, {PageBytes: 65536}} {
		for _, mtu := range []int{200, 1500, 3000, 3700, 5700, 9000, 15000} {
			cfg := Config{Type: Cyclic, MTU: mtu, Entries: 32, Memory: mem}
			q, d := open(t, cfg, poisoned())
			var held []*packet.Batch
			var sent [][]byte
			for i := range 80 {
				f := tcpFrame(54 + (i*977)%(mtu+18-54+1))
				f[50] = byte(i)
				if !d.send(f) {
					break // the pages are all held
				}
				d.plain()
				b := receive(t, q)
				if b.Len() != 1 {
					t.Fatalf("MTU %d: %d packets", mtu, b.Len())
				}
				held, sent = append(held, b), append(sent, f)
			}
			if len(held) < 32 {
				t.Errorf("MTU %d, %+v: only %d frames", mtu, mem, len(held))
			}
			for i, b := range held {
				if !bytes.Equal(contents(b, 0), sent[i]) {
					t.Fatalf("MTU %d, %+v: packet %d differs", mtu, mem, i)
				}
				q.Free(b)
			}
		}
	}
}

// More bytes than posted are the device's error: the WQE is used up, and the
// queue goes on.
func TestCyclicLocalLength(t *testing.T) {
	for _, mtu := range []int{1500, 9000} {
		q, d := open(t, Config{Type: Cyclic, MTU: mtu, Entries: 16}, nil)
		for range 100 {
			d.send(tcpFrame(mtu + 23))
			d.send(tcpFrame(mtu + 19)) // fits the buffer, which has room for the FCS
			d.send(tcpFrame(mtu + 18))
			d.plain()
			b := receive(t, q)
			if b.Len() != 1 {
				t.Fatalf("%d packets", b.Len())
			}
			q.Free(b)
		}
		s := q.Stats()
		if s.WQEErr != 100 || s.Drops[packet.DropErrorCQE] != 100 || s.OversizePktsSWDrop != 100 ||
			s.Recover != 0 || !s.Balanced() {
			t.Errorf("%+v", s)
		}
	}
}

// Segments behind the last of a WQE end the list.
func TestCyclicTerminated(t *testing.T) {
	q, _ := open(t, Config{Type: Cyclic, MTU: 5700, Entries: 8}, nil)
	for i := range 8 {
		if s := &q.rq.Segments[i*4+3]; s.ByteCount() != 0 || s.LKey() != desc.TerminateKey {
			t.Errorf("WQE %d: segment 3 has %d bytes, key %#x", i, s.ByteCount(), s.LKey())
		}
		if s := &q.rq.Segments[i*4]; s.Addr()%64 != 0 || s.ByteCount() != 1664 {
			t.Errorf("WQE %d: segment 0 has %d bytes at %#x", i, s.ByteCount(), s.Addr())
		}
	}
}
