package nic

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
)

// wantFrames checks that the packets are the frames, in order, fillers apart.
func wantFrames(t testing.TB, got []received, frames ...[]byte) {
	t.Helper()
	i := 0
	for _, p := range got {
		if p.ByteCount().Filler() {
			continue
		}
		if i == len(frames) {
			t.Fatalf("%d frames sent, more came: %v", len(frames), p)
		}
		if !bytes.Equal(p.data, frames[i]) {
			t.Fatalf("frame %d came as\n% x, want\n% x\nfrom %v", i, p.data, frames[i], p)
		}
		i++
	}
	if i != len(frames) {
		t.Fatalf("%d of %d frames came", i, len(frames))
	}
}

// facts/mlx5e.md 14: 1514 B take one stride of 2048, behind 64 B of headroom.
func TestLinearStride(t *testing.T) {
	b := newBench(t, linear1500, Config{})
	frames := [][]byte{udp4(1514), udp4(60), udp4(1514)}
	got := b.send(frames...)
	wantFrames(t, got, frames...)
	for i, p := range got {
		if p.WQEID() != 0 || p.WQECounter() != uint16(i) || p.ByteCount().Strides() != 1 {
			t.Errorf("packet %d: %v", i, p)
		}
	}
	b.bytes(b.pages[0], 0, 4096)
	if page := b.pages[0].Bytes(0, 64); !bytes.Equal(page, make([]byte, 64)) {
		t.Errorf("the device wrote to the headroom: % x", page)
	}
}

// facts/mlx5e.md 14: 28 frames of 9014 B take 1008 of 1024 strides; the next
// one does not fit, so a filler of 16 ends the WQE.
func TestFiller(t *testing.T) {
	b := newBench(t, nonlinear9000, Config{})
	var frames [][]byte
	for range 29 {
		frames = append(frames, udp4(9014))
	}
	got := b.send(frames...)
	wantFrames(t, got, frames...)
	f := got[28]
	if uint32(f.ByteCount()) != 0x80100000 || f.WQEID() != 0 || f.WQECounter() != 1008 {
		t.Errorf("packet 28 is no filler of 16 at 1008: %v", f)
	}
	if p := got[27]; p.ByteCount() != 0x00242336 || p.WQECounter() != 27*36 {
		t.Errorf("packet 27: %v", p)
	}
	if p := got[29]; p.WQEID() != 1 || p.WQECounter() != 0 {
		t.Errorf("packet 29 is not at the start of WQE 1: %v", p)
	}
	if s := b.dev.Stats(); s.FillerCQEs != 1 || s.FillerStrides != 16 || s.RxDelivered != 29 {
		t.Errorf("%+v", s)
	}
}

// Frames of every length, so that they cross pages at every offset, over many
// laps of the list; with and without cache injection.
func TestStridingLengths(t *testing.T) {
	wide := nonlinear9000 // frames over up to three pages
	wide.LogStrides, wide.logCQ = 7, 9
	for _, l := range []layout{small, wide} {
		for _, bypass := range []bool{false, true} {
			b := newBench(t, l, Config{Bypass: bypass})
			for n := 42; n < 4096; n += 13 {
				f := tagged(header.TypeVLAN, 7, udp4(n))
				wantFrames(t, b.send(f), udp4(n))
			}
		}
	}
}

// The device walks the list by next index: WQEs that are linked in another
// order are taken in that order, and none behind the doorbell.
func TestLinkedList(t *testing.T) {
	d := newDriver(t, small)
	d.rq.Modify(desc.Ready, desc.Error)
	d.rq.Modify(desc.Error, desc.Reset)
	d.rq.Reinit()
	for i, next := range []uint16{2, 3, 1, 0} { // 0 2 1 3
		d.rq.List[i].SetNext(next)
	}
	d.rq.Producer.Ring(2)
	d.rq.Modify(desc.Reset, desc.Ready)
	b := &bench{driver: d, wire: new(Frames)}
	b.cc = 0
	b.dev, _ = New(Config{}, d.dom)
	_, err := b.dev.AddRQ(d.rq)
	check(t, err)
	b.dev.Plug(b.wire)
	d.consumed = make([]int, 1<<16) // nothing is posted again below
	for range 3 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(4096)})
	}
	b.dev.Step(0)
	for i, want := range []uint16{0, 2} {
		c := b.rq.CQ.At(uint32(i))
		if !c.Own().ReadyIn(0) || c.WQEID() != want {
			t.Errorf("completion %d is of WQE %d, want %d", i, c.WQEID(), want)
		}
	}
	if s := b.dev.Stats(); s.RxDelivered != 2 || s.RxOutOfBuffer != 1 {
		t.Errorf("beyond the doorbell: %+v", s)
	}
}

func TestOutOfBuffer(t *testing.T) {
	b := newBench(t, small, Config{})
	for range 5 {
		b.wire.List = append(b.wire.List, Frame{Data: udp4(4096)})
	}
	b.dev.Step(0)
	if s := b.dev.Stats(); s.RxDelivered != 3 || s.RxOutOfBuffer != 2 {
		t.Errorf("3 WQEs, 5 frames: %+v", s)
	}
	wantFrames(t, b.poll(), udp4(4096), udp4(4096), udp4(4096))
	wantFrames(t, b.send(udp4(4096)), udp4(4096)) // it goes on by itself
}

func TestFrameLimits(t *testing.T) {
	for _, test := range []struct {
		bytes int
		want  Stats
	}{
		{0, Stats{RxUndersizePktsPhy: 1}},
		{1, Stats{RxDelivered: 1}},
		{13, Stats{RxDelivered: 1}},
		{65535, Stats{RxDelivered: 1}},
		{65536, Stats{RxOversizePktsPhy: 1}},
	} {
		b := newBench(t, nonlinear9000, Config{})
		got := b.send(pattern(test.bytes))
		test.want.RxPacketsPhy, test.want.RxBytesPhy = 1, uint64(test.bytes)
		if s := b.dev.Stats(); s != test.want {
			t.Errorf("%d bytes: %+v, want %+v", test.bytes, s, test.want)
		}
		if test.want.RxDelivered == 1 {
			wantFrames(t, got, pattern(test.bytes))
		}
	}
	b := newBench(t, small, Config{})
	b.send(pattern(4097)) // a WQE holds 4096
	if s := b.dev.Stats(); s.RxOversizePktsPhy != 1 {
		t.Errorf("longer than a WQE: %+v", s)
	}
}

// facts/mlx5e.md 12, bug 33: the address of WQE i counts 72 entries each, 64
// pages and padding; its pages are 64 apart for the driver. And what runs over
// the end of a WQE lands in the filler page, not in the next WQE.
func TestPaddingEntries(t *testing.T) {
	b := newBench(t, nonlinear9000, Config{Spill: true})
	var frames [][]byte
	for range 29 {
		frames = append(frames, udp4(9014))
	}
	got := b.send(frames...)
	wantFrames(t, got[:28], frames[:28]...)
	over := got[28]
	if over.WQECounter() != 1008 || over.ByteCount().Strides() != 16 ||
		over.ByteCount().Bytes() != 9014 {
		t.Fatalf("the last frame: %v", over)
	}
	// It has 4096 bytes in the last page and the rest, page over page, in the
	// filler: the end of it is the beginning of the filler page.
	if !bytes.Equal(over.data[:4096], frames[28][:4096]) {
		t.Error("the part inside the WQE is not there")
	}
	tail := 9014 - 2*4096
	if got := b.bytes(b.filler, 0, tail); !bytes.Equal(got, frames[28][2*4096:]) {
		t.Error("the part behind the WQE is not in the filler page")
	}
	next := b.pages[b.rq.PagesPerWQE]
	b.bytes(next, 0, 4096)
	if !bytes.Equal(next.Bytes(0, 4096), make([]byte, 4096)) {
		t.Error("the device wrote to WQE 1")
	}
	wantFrames(t, b.send(frames[0]), frames[0])
}

// With spill and a translation without filler entries the device stops.
func TestSpillNeedsEntries(t *testing.T) {
	b := newBench(t, small, Config{Spill: true})
	for i := range b.rq.MTT {
		if i%b.rq.MTTsPerWQE >= b.rq.PagesPerWQE {
			b.rq.MTT[i] = 0
		}
	}
	got := b.send(udp4(3000), udp4(3000))
	if len(got) < 2 || got[1].opcode() != desc.OpRespErr || got[1].Syndrome() != desc.LocalProt {
		t.Errorf("%v", got)
	}
}

// Bytes outside the strides of a frame stay what they were.
func TestNothingBesideFrames(t *testing.T) {
	b := newBench(t, small, Config{})
	b.send(udp4(700))
	b.dom.SyncForCPU(b.pages[0].Meta().IOVA, 4096)
	rest := b.pages[0].Bytes(700, 4096-700)
	if !bytes.Equal(rest, make([]byte, len(rest))) {
		t.Error("the device wrote behind the frame")
	}
	for _, p := range append(b.pages[1:], b.filler) {
		b.dom.SyncForCPU(p.Meta().IOVA, 4096)
		if !bytes.Equal(p.Bytes(0, 4096), make([]byte, 4096)) {
			t.Errorf("the device wrote to page %v", mem.Ref(p).Page())
		}
	}
}
