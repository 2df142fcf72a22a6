package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
)

func TestCyclic(t *testing.T) {
	b := newBench(t, cyclic2, Config{})
	for n := 42; n <= 2048; n += 11 { // many laps; over both segments
		f := udp4(n)
		wantFrames(t, b.send(f), f)
	}
	p := b.send(udp4(60), udp4(60))
	if p[1].WQECounter() != p[0].WQECounter()+1 || uint32(p[1].ByteCount()) != 60 {
		t.Errorf("%v, then %v", p[0], p[1])
	}
}

// Longer than the segments: LOCAL_LENGTH, nothing written, the WQE is used up
// and the queue goes on.
func TestCyclicTooLong(t *testing.T) {
	b := newBench(t, cyclic2, Config{})
	got := b.send(udp4(2049), udp4(100))
	if got[0].opcode() != desc.OpRespErr || got[0].Syndrome() != desc.LocalLength ||
		got[0].WQECounter() != 0 {
		t.Fatalf("%v", got[0])
	}
	wantFrames(t, got[1:], udp4(100))
	if got[1].WQECounter() != 1 || b.rq.State() != desc.Ready {
		t.Errorf("state %d, then %v", b.rq.State(), got[1])
	}
	if s := b.dev.Stats(); s.RxErrors != 1 || s.RxDelivered != 1 || s.ErrorCQEs != 1 {
		t.Errorf("%+v", s)
	}
}

// The list of segments ends at the terminating key; the padding bit is no
// part of the length.
func TestCyclicSegments(t *testing.T) {
	b := newBench(t, cyclic2, Config{})
	b.rq.Segments[1].Set(0, desc.TerminateKey, 0)
	b.rq.Segments[2].Set(desc.StartPadding|1024, 1, b.rq.Segments[2].Addr())
	got := b.send(udp4(1025), udp4(1500))
	if got[0].Syndrome() != desc.LocalLength {
		t.Errorf("1025 bytes into 1024: %v", got[0])
	}
	b.rq.Segments[2].Set(1024, 1, b.rq.Segments[2].Addr())
	if got[1].opcode() != desc.OpRespSend || got[1].ByteCount().Bytes() != 1500 {
		t.Errorf("1500 bytes into 2048: %v", got[1])
	}
}

func TestCyclicOutOfBuffer(t *testing.T) {
	b := newBench(t, cyclic2, Config{})
	for range 10 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(60)})
	}
	b.dev.Step(0)
	if s := b.dev.Stats(); s.RxDelivered != 8 || s.RxOutOfBuffer != 2 {
		t.Errorf("8 WQEs, 10 frames: %+v", s)
	}
}
