package port

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// A loopWire repeats prepared frames for ever. TCP flows go on where they
// were: the frames hold all of one lap, and the sequence number of a flow
// starts over with the next.
type loopWire struct {
	frames []nic.Frame
	next   int
}

func (w *loopWire) Next(_ int64, f *nic.Frame) bool {
	*f = w.frames[w.next]
	if w.next++; w.next == len(w.frames) {
		w.next = 0
	}
	return true
}

// flowFrames is n frames of each flow, with payload bytes each, 32 of a flow
// at a time.
func flowFrames(flows, n, payload int, udp bool) *loopWire {
	const burst = 32
	w := &loopWire{}
	list := make([]flow, flows)
	for i := range list {
		list[i] = flow{port: uint16(1000 + i), udp: udp, size: payload}
	}
	for k := 0; k < n; k += burst {
		for i := range list {
			for range burst {
				w.frames = append(w.frames, nic.Frame{
					Data: list[i].plain(), Link: header.LinkEthernet,
				})
			}
		}
	}
	return w
}

// BenchmarkReceive times the driver from poll to handler and back: what the
// device does is timed apart and reported beside it. Cold is the device
// writing past the caches.
func BenchmarkReceive(b *testing.B) {
	for _, c := range []struct {
		name    string
		payload int
		udp     bool
		mtu     int
	}{
		{"udp512", 512 - 42, true, 1500},
		{"tcp1448", 1448, false, 1500},
		{"udp9000", 9000 - 28, true, 9000},
	} {
		for _, cold := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/cold=%v", c.name, cold), func(b *testing.B) {
				p, err := Open("nic:", Config{
					NIC: nic.Config{Bypass: cold}, RX: rx.Config{MTU: c.mtu},
				})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				p.Plug(flowFrames(8, 128, c.payload, c.udp))
				touch := func(batch *packet.Batch) {
					for i := range batch.Len() {
						sink += batch.Head(i)[0]
					}
				}
				for range 64 {
					p.Step(touch)
				}
				p.count = counters{}
				for p.count.segments < uint64(b.N) {
					p.Step(touch)
				}
				n := float64(p.count.segments)
				ns := func(ticks uint64) float64 { return float64(p.clock.ns(ticks)) / n }
				b.ReportMetric(ns(p.count.rxTicks+p.count.groTicks+p.count.handlerTicks), "ns/pkt")
				b.ReportMetric(ns(p.count.rxTicks), "rx-ns/pkt")
				b.ReportMetric(ns(p.count.groTicks), "gro-ns/pkt")
				b.ReportMetric(ns(p.count.deviceTicks), "device-ns/pkt")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

var sink byte

// The loop allocates nothing, whatever goes through it.
func TestStepAllocatesNothing(t *testing.T) {
	if check.On {
		t.Log("assertions allocate")
		return
	}
	for _, mtu := range []int{1500, 9000} {
		for _, udp := range []bool{false, true} {
			p, err := Open("nic:", Config{RX: rx.Config{MTU: mtu}})
			if err != nil {
				t.Fatal(err)
			}
			p.Plug(flowFrames(4, 64, mtu-52, udp))
			drop := func(b *packet.Batch) { b.Drop(0, packet.DropFiltered) }
			for range 64 {
				p.Step(drop)
			}
			if n := testing.AllocsPerRun(200, func() { p.Step(drop) }); n != 0 {
				t.Errorf("MTU %d, udp %v: %v allocations a step", mtu, udp, n)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
