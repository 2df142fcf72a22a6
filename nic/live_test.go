package nic

import (
	"runtime"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
)

// Device and driver on goroutines of their own, with recoveries in between:
// for the race detector, and for the law at the end.
func TestLive(t *testing.T) {
	l := compressing(desc.CompressBasic, desc.MiniCSumStride, 9)
	l.mode = dma.Passthrough
	b := newBench(t, l, Config{On: Compress})
	const frames = 3000
	b.wire.List = framesOf(slicesOf(frames, udp4(300)))
	var wg sync.WaitGroup
	wg.Go(func() {
		for b.wire.Left() > 0 || b.dev.Step(0) > 0 {
			b.dev.Step(0)
			runtime.Gosched()
		}
	})
	wg.Go(func() {
		for b.dev.Stats().RxPacketsPhy < frames {
			runtime.Gosched()
		}
	})
	got := 0
	for i := 0; b.dev.Stats().RxPacketsPhy < frames; i++ {
		got += len(b.poll())
		if i%100 == 99 {
			b.restart()
		}
		runtime.Gosched()
	}
	wg.Wait()
	got += len(b.poll())
	s := b.dev.Stats()
	if s.Unaccounted() != 0 || got == 0 || uint64(got) > s.RxDelivered {
		t.Errorf("%d packets, %+v", got, s)
	}
}

// No Step allocates, whatever the queue.
func TestAllocs(t *testing.T) {
	compressed := compressing(desc.CompressEnhanced, desc.MiniCSumStride, 10)
	for name, test := range map[string]struct {
		layout layout
		cfg    Config
		frame  []byte
	}{
		"linear":     {linear1500, Config{}, udp4(1448)},
		"nonlinear":  {nonlinear9000, Config{}, udp4(9000)},
		"cyclic":     {cyclic2, Config{}, udp4(1448)},
		"compressed": {compressed, Config{On: Compress}, udp4(1448)},
		"lro":        {nonlinear9000, Config{On: LRO}, tcp4(segment{flags: ack, payload: 1448})},
		"bypass":     {linear1500, Config{Bypass: true}, udp4(1448)},
		"faults":     {linear1500, Config{Faults: everything(50)}, udp4(1448)},
	} {
		b := newBench(t, test.layout, test.cfg)
		b.mute, b.wary = true, true
		b.wire.List = framesOf(slicesOf(32, test.frame))
		step := func() {
			b.wire.Rewind()
			b.dev.Step(0)
			b.poll()
		}
		step()
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("%s: %v allocations a Step", name, n)
		}
	}
}

// The device's own cost. Budget: 150 ns for a frame of 1448 bytes.
func BenchmarkStep(b *testing.B) {
	compressed := compressing(desc.CompressEnhanced, desc.MiniCSumStride, 10)
	segment4 := tcp4(segment{flags: ack, payload: 1394})
	ring := cyclic2
	ring.cyclic.LogWQEs, ring.logCQ = 8, 8
	for _, test := range []struct {
		name   string
		layout layout
		cfg    Config
		frame  []byte
	}{
		{"linear/64", linear1500, Config{}, udp4(64)},
		{"linear/1448", linear1500, Config{}, segment4},
		{"linear/1448/bypass", linear1500, Config{Bypass: true}, segment4},
		{"linear/1448/ipv6", linear1500, Config{}, tcp6(segment{flags: ack, payload: 1374})},
		{"linear/1448/bare", linear1500, Config{Off: DefaultFeatures}, udp4(1448)},
		{"compressed/1448", compressed, Config{On: Compress}, udp4(1448)},
		{"lro/1448", nonlinear9000, Config{On: LRO}, segment4},
		{"nonlinear/9000", nonlinear9000, Config{}, udp4(9000)},
		{"cyclic/1448", ring, Config{}, udp4(1448)},
	} {
		b.Run(test.name, func(b *testing.B) {
			test.layout.mode = dma.Passthrough
			q := newBench(b, test.layout, test.cfg)
			q.mute = true
			q.wire.List = framesOf(slicesOf(32, test.frame))
			n := 0
			for b.Loop() {
				q.wire.Rewind()
				n += q.dev.Step(0)
				q.poll()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
		})
	}
}

// The floor of BenchmarkStep on the machine at hand: summing a frame and
// copying it to the next place of the same memory, and nothing else.
func BenchmarkFloor(b *testing.B) {
	d := newDriver(b, linear1500)
	frame := udp4(1448)
	i := 0
	var sum uint16
	for b.Loop() {
		sum += checksum.Sum(frame[14:])
		copy(d.pages[i%len(d.pages)].Bytes(64, 1448), frame)
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i), "ns/frame")
	runtime.KeepAlive(sum)
}
