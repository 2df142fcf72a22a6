package tx

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// A loop is a queue whose NIC is plugged into itself, with a receive queue and
// GRO behind it.
type loop struct {
	*rig
	nic   *nic.Device
	rx    *rx.Queue
	table *gro.Table
	in    *packet.Batch
	out   *packet.Batch
}

func newLoop(t *testing.T, cfg Config, d dma.Config) *loop {
	l := &loop{rig: newRig(t, cfg, d)}
	var err error
	check := func() {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	l.nic, err = nic.New(nic.Config{Burst: 256}, l.dom)
	check()
	a, b, err := nic.NewCable(1024)
	check()
	l.nic.PlugOut(a)
	l.nic.Plug(b)
	_, err = l.nic.AddSQ(l.q.SQ())
	check()
	l.rx, err = rx.New(rx.Config{Memory: rx.Memory{Kind: mem.Heap}}, l.dom)
	check()
	_, err = l.nic.AddRQ(l.rx.RQ())
	check()
	l.table, err = gro.New(gro.Config{}, l.rx.Slab())
	check()
	l.in = packet.NewBatch(l.rx.Slab(), 512)
	l.out = packet.NewBatch(l.rx.Slab(), 512)
	return l
}

// turn sends what waits, and returns what came back, merged.
func (l *loop) turn() (packets [][]byte, merged int) {
	for now := range int64(20) {
		l.post()
		l.nic.Step(now)
		l.reap()
		l.rx.Poll(l.in, 512)
		l.table.Receive(l.in, l.out)
	}
	l.table.Flush(l.out)
	for k := range l.out.Len() {
		p := l.out.At(k)
		head, payload := gso.Pieces(l.rx.Slab(), p, nil)
		packets = append(packets, bytes.Join(append([][]byte{head}, payload...), nil))
		if hasShared(p) && p.Shared().GSO.Segs > 1 {
			merged++
		}
	}
	l.rx.Free(l.out)
	return packets, merged
}

// What is sent through TSO is received through GRO: one packet, the same bytes.
func TestRoundTrip(t *testing.T) {
	for _, d := range modes {
		for _, without := range []Offload{0, TSO | UDPSegmentation, allOffloads} {
			l := newLoop(t, Config{Without: without}, d)
			for _, k := range kinds()[:2] {
				i, p := l.packetOf(k, 1000, 7, 4000, 4000, 3000)
				want := l.bytes(p)
				l.put(i)
				got, merged := l.turn()
				if len(got) != 1 || merged != 1 {
					t.Fatalf("%s, %v, without %v: %d packets, %d merged",
						k.name, d.Mode, without, len(got), merged)
				}
				if n := len(k.head); !bytes.Equal(got[0][n:], want[n:]) {
					t.Errorf("%s, %v, without %v: other bytes", k.name, d.Mode, without)
				}
			}
			if err := l.rx.Close(); err != nil {
				t.Error(err)
			}
			l.close()
		}
	}
}
