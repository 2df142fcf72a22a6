package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// wantFlushed checks that an error of the given kind comes first and then
// every other posted WQE is flushed, strides and all.
func wantFlushed(t *testing.T, b *bench, got []received, s desc.Syndrome) {
	t.Helper()
	if len(got) == 0 || got[0].opcode() != desc.OpRespErr || got[0].Syndrome() != s {
		t.Fatalf("want %v first, have %v", s, got)
	}
	strides := int(got[0].ByteCount().Strides())
	for _, p := range got[1:] {
		if p.opcode() != desc.OpRespErr || p.Syndrome() != desc.WRFlush {
			t.Errorf("behind the error: %v", p)
		}
		strides += int(p.ByteCount().Strides())
	}
	if b.rq.Type == desc.Striding {
		if want := (len(b.rq.List) - 1) << b.rq.LogStrides; strides != want {
			t.Errorf("%d strides completed, %d were posted", strides, want)
		}
	} else if want := 1 << b.rq.LogWQEs; len(got) != want {
		t.Errorf("%d completions, %d WQEs were posted", len(got), want)
	}
	if b.rq.State() != desc.Error {
		t.Errorf("state %d", b.rq.State())
	}
}

// An entry that may not be written, one that is not there, and a page that is
// not mapped: LOCAL_PROT, the rest is flushed, and a reset brings the queue
// back.
func TestProtection(t *testing.T) {
	for name, spoil := range map[string]func(*bench) func(){
		"read-only entry": func(b *bench) func() {
			old := b.rq.MTT[0]
			b.rq.MTT[0] &^= desc.MTTWrite
			return func() { b.rq.MTT[0] = old }
		},
		"empty entry": func(b *bench) func() {
			old := b.rq.MTT[0]
			b.rq.MTT[0] = 0
			return func() { b.rq.MTT[0] = old }
		},
		"page not mapped": func(b *bench) func() {
			b.dom.Unmap(b.pages[0].Meta().IOVA)
			return func() {
				iova, err := b.dom.Map(b.pages[0])
				check(t, err)
				b.rq.MTT[0] = iova | desc.MTTRead | desc.MTTWrite
				b.pages[0].Meta().IOVA = iova
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, small, Config{})
			mend := spoil(b)
			wantFlushed(t, b, b.send(udp4(300)), desc.LocalProt)
			b.send(udp4(100)) // counted, not delivered
			s := b.dev.Stats()
			if s.RxErrors != 1 || s.RxIfDownPackets != 1 || s.QueueStops != 1 || s.FlushCQEs != 3 {
				t.Errorf("%+v", s)
			}
			mend()
			b.restart()
			wantFrames(t, b.send(udp4(300), udp4(4000)), udp4(300), udp4(4000))
			if s := b.dev.Stats(); s.QueueResets != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestProtectionCyclic(t *testing.T) {
	b := newBench(t, cyclic2, Config{})
	b.rq.Segments[1].Set(1024, 1, 0)
	got := b.send(udp4(1500))
	wantFlushed(t, b, got, desc.LocalProt)
}

// The driver takes the queue to Error itself: everything posted is flushed,
// the WQE in use with the strides it has left.
func TestDriverStops(t *testing.T) {
	b := newBench(t, small, Config{})
	b.send(udp4(300)) // two strides
	b.rq.Modify(desc.Ready, desc.Error)
	got := b.send()
	if len(got) != 3 || got[0].ByteCount().Strides() != 14 || got[0].WQECounter() != 2 {
		t.Errorf("%v", got)
	}
	if s := b.dev.Stats(); s.QueueStops != 0 || s.FlushCQEs != 3 {
		t.Errorf("%+v", s)
	}
	b.restart()
	wantFrames(t, b.send(udp4(300)), udp4(300))
}

// A doorbell or a list that makes no sense stops the queue; nothing outside
// its memory is touched.
func TestMisuse(t *testing.T) {
	for name, spoil := range map[string]func(*bench){
		"doorbell ahead":  func(b *bench) { b.rq.Producer.Ring(1000) },
		"doorbell behind": func(b *bench) { b.rq.Producer.Ring(0xfffe) },
		"list":            func(b *bench) { b.rq.List[0].SetNext(4) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, small, Config{})
			spoil(b)
			got := b.send(udp4(4096), udp4(300))
			last := got[len(got)-1]
			if last.opcode() != desc.OpRespErr || last.Syndrome() != desc.LocalQPOp ||
				b.rq.State() != desc.Error {
				t.Errorf("state %d, %v", b.rq.State(), got)
			}
			b.restart()
			wantFrames(t, b.send(udp4(300)), udp4(300))
		})
	}
}

// Each syndrome as a fault; those that need recovery stop the queue.
func TestSyndromes(t *testing.T) {
	for _, s := range syndromes {
		for _, l := range []layout{small, cyclic2} {
			cfg := Config{Faults: Faults{Device: DeviceFaults{Error: 1000, Syndrome: s}}}
			b := newBench(t, l, cfg)
			got := b.send(udp4(300))
			if got[0].opcode() != desc.OpRespErr || got[0].Syndrome() != s {
				t.Errorf("%v: %v", s, got[0])
			}
			if stopped := b.rq.State() == desc.Error; stopped != s.NeedsRecovery() {
				t.Errorf("%v: stopped %v", s, stopped)
			}
			st := b.dev.Stats()
			if st.RxErrors != 1 || st.Faults.Errors != 1 || st.RxDelivered != 0 {
				t.Errorf("%v: %+v", s, st)
			}
		}
	}
}

// The device never writes over completions that were not consumed: with a CQ
// that is too small it stops the queue, and what was written is intact.
func TestOverrunProtection(t *testing.T) {
	for _, c := range []desc.Compression{
		desc.CompressNone, desc.CompressBasic, desc.CompressEnhanced,
	} {
		l := small
		l.logCQ, l.compression, l.format = 3, c, desc.MiniCSumStride
		b := newBench(t, l, Config{On: Compress})
		b.poll()
		for range 12 {
			b.wire.List = append(b.wire.List, Frame{Data: udp4(100)})
		}
		b.dev.Step(0)
		s := b.dev.Stats()
		if s.RxDelivered != 8 || s.RxCQOverrun != 1 || s.RxIfDownPackets != 3 ||
			s.CQOverruns != 1 || b.rq.State() != desc.Error {
			t.Errorf("compression %d: %+v", c, s)
		}
		wantFrames(t, b.poll(), slicesOf(8, udp4(100))...)
		b.dev.Step(0) // there is room for the flush
		if got := b.poll(); len(got) != 3 || got[0].Syndrome() != desc.WRFlush {
			t.Errorf("compression %d: behind the overrun %v", c, got)
		}
		b.restart()
		wantFrames(t, b.send(udp4(100)), udp4(100))
	}
}

// A CQ of exactly one entry a stride never overruns, however late the driver
// is: the WQEs run out first.
func TestSizedCQ(t *testing.T) {
	l := small
	l.logCQ = 6 // 4 WQEs of 16 strides
	b := newBench(t, l, Config{})
	for range 100 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(100)})
	}
	b.dev.Step(0)
	b.dev.Step(0)
	if s := b.dev.Stats(); s.RxDelivered != 48 || s.RxOutOfBuffer != 52 || s.CQOverruns != 0 {
		t.Errorf("%+v", s)
	}
}

// A consumer counter that was never reached leaves no room.
func TestBogusConsumer(t *testing.T) {
	b := newBench(t, small, Config{})
	b.rq.CQ.Consumer.Ring(5)
	b.wire.List = []Frame{{Data: udp4(100)}}
	b.dev.Step(0)
	if s := b.dev.Stats(); s.CQOverruns != 0 && s.RxCQOverrun != 1 {
		t.Errorf("%+v", s)
	}
}

// Frames whose completions the driver never got because it reset the queue
// are in the books.
func TestResetLosesPending(t *testing.T) {
	b := newBench(t, small, Config{Faults: Faults{Device: DeviceFaults{Hold: 1000, HoldSteps: 1}}})
	b.wire.List = []Frame{{Data: udp4(100)}, {Data: udp4(100)}}
	b.dev.Step(0)
	if s := b.dev.Stats(); s.RxPending != 2 || s.Unaccounted() != 0 {
		t.Fatalf("%+v", s)
	}
	b.restart()
	b.dev.Step(0)
	if s := b.dev.Stats(); s.RxLost != 2 || s.RxPending != 0 || s.Unaccounted() != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNoQueue(t *testing.T) {
	d := newDriver(t, small)
	dev, err := New(Config{}, d.dom)
	check(t, err)
	dev.Plug(&Frames{List: []Frame{{Data: udp4(60)}}})
	if n := dev.Step(0); n != 1 || dev.Stats().RxIfDownPackets != 1 {
		t.Errorf("%d frames, %+v", n, dev.Stats())
	}
	dev.Plug(nil)
	if dev.Step(0) != 0 {
		t.Error("a frame without a wire")
	}
}

func slicesOf(n int, b []byte) (list [][]byte) {
	for range n {
		list = append(list, b)
	}
	return list
}
