package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// What one queue of a device sends, a receive queue gets: of the same device by
// a cable to itself, of another by a cable between them.
func TestSendToReceive(t *testing.T) {
	for _, loop := range []bool{true, false} {
		b := newBench(t, linear1500, Config{On: LRO})
		r := newSendRig(t, Config{}, 100)
		if loop {
			r.dom, r.dev = b.dom, b.dev
			for i := range r.iova { // the device has one domain
				iova, err := b.dom.Map(r.page[i])
				check(t, err)
				r.iova[i] = iova
			}
			_, err := r.dev.AddSQ(r.sq)
			check(t, err)
			near, far, err := NewCable(100)
			check(t, err)
			r.dev.PlugOut(near)
			r.far = far
		}
		b.dev.Plug(r.far)
		s := segment{flags: ack, payload: 20000}
		r.write(r.lso(tcp4(s), 54, 1000, pageBytes))
		for n := range 10 {
			r.write(order{segs: r.place(udp4(60+n), 50)})
		}
		r.ring()
		b.dev.Step(2)
		got := b.poll()
		bytes, good := 0, desc.L2OK|desc.L3OK|desc.L4OK
		for _, p := range got {
			bytes += len(p.data)
			if p.Verdict() != good {
				t.Errorf("verdict %d", p.Verdict())
			}
		}
		sent, received := r.dev.Stats(), b.dev.Stats()
		want := 20*54 + 20000 + 10*64 + 5
		if int(sent.TxBytesPhy) != want || received.RxBytesPhy != sent.TxBytesPhy ||
			received.RxPacketsPhy != 30 || received.Unaccounted() != 0 {
			t.Errorf("loop %v: %d packets of %d bytes: %+v", loop, len(got), bytes, received)
		}
	}
}
