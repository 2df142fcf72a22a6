package nic

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/testenv"
)

// A hostile completion is counted as what it is, and its frame as spoilt.
func TestHostileKinds(t *testing.T) {
	for name, faults := range map[string]HostileFaults{
		"fault_wqe_id":       {WQEID: 1000},
		"fault_byte_count":   {ByteCount: 1000},
		"fault_strides":      {Strides: 1000},
		"fault_stride_index": {StrideIndex: 1000},
		"fault_opcode":       {Opcode: 1000},
		"fault_overrun":      {Overrun: 1000},
		"fault_minis":        {Minis: 1000},
	} {
		for _, c := range []desc.Compression{desc.CompressBasic, desc.CompressEnhanced} {
			l := compressing(c, desc.MiniCSumStride, 8)
			b := newBench(t, l, Config{On: Compress, Faults: Faults{Hostile: faults}})
			if name != "fault_minis" {
				check(t, b.dev.Set(Compress, false))
			}
			b.wary = true
			for range 5 {
				b.wire.List = append(b.wire.List, Frame{Data: udp4(100)})
			}
			b.dev.Step(0)
			b.poll()
			s := b.dev.Stats()
			n := maps.Collect(s.Ethtool())[name]
			if n < 4 || s.RxSpoilt != n || s.Unaccounted() != 0 {
				t.Errorf("%s, compression %d: counted %d: %+v", name, c, n, s)
			}
			if !b.broken && name != "fault_overrun" {
				t.Errorf("%s, compression %d: the driver saw nothing", name, c)
			}
		}
	}
}

func TestWireFaults(t *testing.T) {
	frames := make([][]byte, 200)
	for i := range frames {
		frames[i] = udp4(100 + i)
	}
	run := func(f WireFaults) ([]received, Stats) {
		b := newBench(t, linear1500, Config{Seed: 1, Faults: Faults{Wire: f}})
		return b.send(frames...), b.dev.Stats()
	}
	got, s := run(WireFaults{Drop: 300})
	if int(s.Faults.Dropped) != 200-len(got) || s.Faults.Dropped == 0 {
		t.Errorf("%d packets, %+v", len(got), s.Faults)
	}
	got, s = run(WireFaults{Duplicate: 300})
	if int(s.Faults.Duplicated) != len(got)-200 || s.Faults.Duplicated == 0 {
		t.Errorf("%d packets, %+v", len(got), s.Faults)
	}
	got, s = run(WireFaults{Reorder: 300})
	late := 0
	for i, p := range got {
		if i > 0 && len(p.data) < len(got[i-1].data) {
			late++
		}
	}
	if int(s.Faults.Reordered) < late || late == 0 || len(got) != 200 {
		t.Errorf("%d packets, %d late, %+v", len(got), late, s.Faults)
	}
	got, s = run(WireFaults{Corrupt: 300})
	bad := 0
	for i, p := range got {
		if !bytes.Equal(p.data, frames[i]) {
			bad++
		}
	}
	if int(s.Faults.Corrupted) != bad || bad == 0 {
		t.Errorf("%d packets, %d bad, %+v", len(got), bad, s.Faults)
	}
}

// Withheld completions come late, and then all of them in order.
func TestHold(t *testing.T) {
	b := newBench(t, linear1500, Config{Faults: Faults{Device: DeviceFaults{Hold: 500}}})
	frames := make([][]byte, 100)
	late := 0
	var got []received
	for i := range frames {
		frames[i] = udp4(100 + i)
		b.wire.List = append(b.wire.List, Frame{Data: frames[i]})
		b.dev.Step(0)
		if n := len(b.poll()); n == 0 {
			late++
		}
		got = append(got, b.got...)
		b.balance()
	}
	b.dev.faults.Device.Hold = 0
	for range 5 {
		got = append(got, b.send()...)
	}
	wantFrames(t, got, frames...)
	if s := b.dev.Stats(); s.Faults.Holds == 0 || late == 0 || s.RxPending != 0 {
		t.Errorf("%d polls without a packet, %+v", late, s)
	}
}

// An I/O fault shows in the domain and ends like every protection error.
func TestIOFault(t *testing.T) {
	for _, l := range []layout{small, cyclic2} {
		b := newBench(t, l, Config{Faults: Faults{Device: DeviceFaults{IOFault: 1000}}})
		wantFlushed(t, b, b.send(udp4(100)), desc.LocalProt)
		if s := b.dev.Stats(); s.Faults.IOFaults != 1 || s.RxErrors != 1 {
			t.Errorf("%+v", s)
		}
		if s := b.dom.Stats(); s.DeviceFaults != 1 {
			t.Errorf("domain: %+v", s)
		}
	}
}

// The same seed makes the same run.
func TestFaultsAreSeeded(t *testing.T) {
	run := func(seed uint64) Stats {
		cfg := Config{Seed: seed, Faults: everything(30)}
		cfg.Faults.Hostile = HostileFaults{}
		b := newBench(t, linear1500, cfg)
		for range 10 {
			b.wire.List = append(b.wire.List, framesOf(slicesOf(30, udp4(500)))...)
			b.dev.Step(0)
			b.poll()
			if b.rq.State() == desc.Error {
				b.restart()
			}
		}
		return b.dev.Stats()
	}
	first, again, other := run(1), run(1), run(2)
	if first != again || first == other {
		t.Errorf("seed 1: %+v\nand then %+v\nseed 2: %+v", first, again, other)
	}
}

func framesOf(list [][]byte) (frames []Frame) {
	for _, f := range list {
		frames = append(frames, Frame{Data: f})
	}
	return frames
}

// everything goes wrong now and then.
func everything(n int) Faults {
	return Faults{
		Wire:   WireFaults{Drop: n, Corrupt: n, Duplicate: n, Reorder: n},
		Device: DeviceFaults{Hold: n, HoldSteps: 3, Error: n, IOFault: n},
		Hostile: HostileFaults{WQEID: n, ByteCount: n, Strides: n, StrideIndex: n, Opcode: n,
			Overrun: n, Minis: n},
	}
}

// The books under all faults at once, after every Step: every frame is in one
// counter; what a driver that recovers makes of it is never more than was
// delivered; and when the faults stop, traffic goes on.
func TestBooks(t *testing.T) {
	seed := testenv.Seed(t)
	layouts := []layout{
		small, linear1500, nonlinear9000, cyclic2,
		compressing(desc.CompressBasic, desc.MiniCSumStride, 8),
		compressing(desc.CompressEnhanced, desc.MiniCSum, 8),
	}
	for i := range testenv.Seeds(60) {
		l := layouts[i%len(layouts)]
		t.Run(fmt.Sprint(i), func(t *testing.T) { runBooks(t, l, seed+uint64(i)) })
	}
}

func runBooks(t *testing.T, l layout, seed uint64) {
	rand := testenv.Rand(seed, 1)
	cfg := Config{On: LRO | Compress, Seed: seed, Faults: everything(10), Burst: 20}
	if !l.striding() {
		cfg.On = 0
	}
	b := newBench(t, l, cfg)
	b.wary = true
	taken, got := 0, uint64(0)
	seq := uint32(0)
	for range 60 {
		for range rand.IntN(30) {
			f := udp4(42 + rand.IntN(2000))
			if rand.IntN(2) == 0 {
				f = tcp4(segment{port: 5, seq: seq, flags: ack, payload: 700})
				seq += 700
			}
			b.wire.List = append(b.wire.List, Frame{Data: f})
		}
		taken += b.dev.Step(0)
		if rand.IntN(4) > 0 {
			b.poll()
		}
		for _, p := range b.got {
			if p.opcode() == desc.OpRespSend && !p.ByteCount().Filler() {
				got += max(1, uint64(p.LROSegs()))
			}
		}
		b.got = b.got[:0]
		s := b.dev.Stats()
		if s.Unaccounted() != 0 ||
			uint64(taken) != s.RxPacketsPhy+s.Faults.Dropped-s.Faults.Duplicated {
			t.Fatalf("taken %d: %+v", taken, s)
		}
		if got > s.RxDelivered+s.RxSpoilt {
			t.Fatalf("the driver has %d frames: %+v", got, s)
		}
		if b.broken || b.rq.State() == desc.Error {
			b.recoverFrom()
		}
	}
	b.dev.faults.Faults = Faults{}
	for range 2 {
		b.recoverFrom()
		b.send()
	}
	wantFrames(t, b.send(udp4(500)), udp4(500))
}

// recoverFrom resets the queue whatever state it is in.
func (b *bench) recoverFrom() {
	b.restart()
	b.broken = false
}
