package port

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/tx"
)

// answers are the packets that the handler of a simulation posts, and what
// became of them.
type answers struct {
	run       *run
	near, far *nic.End
	posted    frames // that are to leave
	left      uint64
}

// answer has the handler post some packets, by queues of random shape.
func (r *run) answer() {
	a := &answers{run: r, posted: frames{}}
	a.near, a.far, _ = nic.NewCable(1 + r.rand.IntN(64))
	c := &r.cfg.TX
	c.Blocks = 64 << r.rand.IntN(3)
	c.Without = tx.Offload(r.rand.IntN(32))
	c.KeptMapped = r.rand.IntN(2) == 0
	if c.Copybreak.Way = tx.Way(r.rand.IntN(4)); c.Copybreak.Way != tx.Mapped {
		c.Copybreak.Bytes = r.rand.IntN(257)
	}
	c.TimeoutNs = -1 // the device's clock is not that of the simulation
	r.answers = a
}

// post posts packets that the handler does not drop, one or all, and forgets
// those that the queue refuses.
func (a *answers) post(b *packet.Batch) error {
	p := a.run.port
	l := &p.lanes[p.at]
	for i := range b.Len() {
		k := b.At(i)
		if k.Drop != packet.DropNone {
			continue
		}
		if a.run.rand.IntN(3) == 0 {
			b.Drop(i, packet.DropFiltered)
		} else if l.send.queue.Check(b.Slab(), k) == nil {
			a.expect(b.Slab(), k)
		}
	}
	return p.Post(b)
}

// expect notes the frames that a packet is to become.
func (a *answers) expect(s *packet.Slab, p *packet.Packet) {
	head, payload := gso.Pieces(s, p, nil)
	if p.Len == p.Linear || p.Shared().GSO.Size == 0 {
		whole := append([]byte(nil), head...)
		for _, b := range payload {
			whole = append(whole, b...)
		}
		a.posted[string(whole)]++
		return
	}
	var cut gso.Segmenter
	if cut.Start(p.Link, head, payload, p.Shared().GSO) != nil {
		return
	}
	for cut.Left() > 0 {
		buf := make([]byte, cut.Need())
		cut.Next(buf)
		a.posted[string(buf)]++
	}
}

// leave takes what has left the device: frames that were posted, each once.
func (a *answers) leave() error {
	for f := (nic.Frame{}); a.far.Next(0, &f); {
		a.left++
		if !a.run.honest || a.run.cfg.RX.Offloads.LRO {
			continue
		}
		if err := a.posted.claim(f.Data); err != nil {
			return fmt.Errorf("sent: %w", err)
		}
	}
	return nil
}

// law of what was posted, behind every step.
func (a *answers) law() error {
	for i := range a.run.port.lanes {
		l := &a.run.port.lanes[i]
		s := l.send.queue.Stats()
		if s.Posted != s.Done+s.Lost+s.InFlight {
			return fmt.Errorf("queue %d: %+v", i, s)
		}
	}
	return nil
}

// end: nothing waits, and what did not leave was lost and counted.
func (a *answers) end() error {
	var lost uint64
	for i := range a.run.port.lanes {
		l := &a.run.port.lanes[i]
		if n := l.send.waiting[0].batch.Len() + l.send.queue.InFlight(); n != 0 {
			return fmt.Errorf("queue %d: %d packets were not sent", i, n)
		}
		lost += l.send.queue.Stats().Lost
	}
	if a.run.honest && lost == 0 && !a.run.cfg.RX.Offloads.LRO {
		for frame, n := range a.posted {
			if n != 0 {
				return fmt.Errorf("a frame of %d bytes did not leave: % x", len(frame),
					frame[:min(len(frame), 80)])
			}
		}
	}
	return nil
}

// While the cable takes nothing, the queue fills up, what does not fit waits,
// and the device runs out of buffers: nothing else is lost, and all of it leaves
// once the cable takes frames again.
func TestPostHoldsBack(t *testing.T) {
	p, err := Open("nic:", Config{NoGRO: true, TX: tx.Config{Blocks: 64, TimeoutNs: -1}})
	if err != nil {
		t.Fatal(err)
	}
	near, far, _ := nic.NewCable(1)
	p.PlugOut(near)
	wire := flowFrames(4, 4096, 100, true)
	p.Plug(wire)
	echo := func(b *packet.Batch) {
		if err := p.Post(b); err != nil || b.Len() != 0 {
			t.Errorf("%d packets are left, %v", b.Len(), err)
		}
	}
	for range 500 {
		p.Step(echo)
	}
	p.publish()
	s := p.Stats()
	posted, waits := s.Queues[0].TX.Posted, p.lanes[0].send.waiting[0].batch.Len()
	if s.Queues[0].TX.Stopped == 0 || waits == 0 || s.Device.RxOutOfBuffer == 0 ||
		!p.Congested() {
		t.Fatalf("%d stops, %d packets wait, %d frames found no buffer",
			s.Queues[0].TX.Stopped, waits, s.Device.RxOutOfBuffer)
	}
	if s.Packets != posted+uint64(waits) || s.Packets+s.Device.RxOutOfBuffer >
		s.Device.RxPacketsPhy {
		t.Errorf("%d packets taken, %d posted and %d waiting", s.Packets, posted, waits)
	}
	p.Plug(nil)
	left := uint64(0)
	for quiet := 0; quiet < 3; quiet++ {
		for f := (nic.Frame{}); far.Next(0, &f); left++ {
			quiet = 0
		}
		if p.Step(echo) {
			quiet = 0
		}
	}
	p.publish()
	s = p.Stats()
	if tx := s.Queues[0].TX; left != s.Packets || tx.Done != left || tx.Wake != tx.Stopped ||
		p.Congested() {
		t.Errorf("%d frames left, %d packets were taken, %+v", left, s.Packets, tx)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Packets of another slab can be posted once Serve knows of it, and go back to
// where they came from.
func TestPostOwnPackets(t *testing.T) {
	p, err := Open("nic:", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	slab, err := packet.NewSlab(8, mem.Auto)
	if err != nil {
		t.Fatal(err)
	}
	defer slab.Close()
	b := packet.NewBatch(slab, 8)
	for range 4 {
		i := slab.Get()
		k := slab.At(i)
		*k = packet.Packet{}
		slab.GetSmall(k)
		k.Linear, k.Len = 60, 60
		copy(k.Bytes(), "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x88\xb5")
		b.Add(i)
	}
	if err := p.Post(b); err == nil || !strings.Contains(err.Error(), "Serve") || b.Len() != 4 {
		t.Errorf("an unknown slab: %v, %d packets left", err, b.Len())
	}
	back := 0
	if err := p.Serve(slab, func(b *packet.Batch) {
		back += b.Len()
		for i := range b.Len() {
			slab.Free(b.Index(i))
		}
		b.Reset()
	}); err != nil {
		t.Fatal(err)
	}
	if err := p.Post(b); err != nil || b.Len() != 0 {
		t.Errorf("%v, %d packets left", err, b.Len())
	}
	for range 4 {
		p.Step(func(*packet.Batch) {})
	}
	if d := p.Device().Stats(); back != 4 || slab.InUse() != 0 || d.TxPacketsPhy != 4 {
		t.Errorf("%d packets came back, %d frames left", back, d.TxPacketsPhy)
	}
	if s := p.Stats(); s.Packets != 0 {
		t.Errorf("%d packets count as delivered", s.Packets)
	}
}

// An echo allocates nothing either.
func TestPostAllocatesNothing(t *testing.T) {
	if check.On {
		t.Log("assertions allocate")
		return
	}
	for _, way := range []tx.Way{tx.Mapped, tx.Premapped, tx.Inline, tx.Linearize} {
		c := Config{TX: tx.Config{Copybreak: tx.Copybreak{Way: way}}}
		if way != tx.Mapped {
			c.TX.Copybreak.Bytes = 200
		}
		p, err := Open("nic:", c)
		if err != nil {
			t.Fatal(err)
		}
		p.Plug(flowFrames(4, 64, 128, true))
		echo := func(b *packet.Batch) { p.Post(b) }
		for range 64 {
			p.Step(echo)
		}
		if n := testing.AllocsPerRun(200, func() { p.Step(echo) }); n != 0 {
			t.Errorf("%v: %v allocations a step", way, n)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkEcho times the driver of an echo, from poll to reap.
func BenchmarkEcho(b *testing.B) {
	for _, c := range []struct {
		name    string
		payload int
		udp     bool
	}{{"udp64", 64 - 42, true}, {"udp512", 512 - 42, true}, {"tcp1448", 1448, false}} {
		b.Run(c.name, func(b *testing.B) {
			p, err := Open("nic:", Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			p.Plug(flowFrames(8, 128, c.payload, c.udp))
			echo := func(batch *packet.Batch) { p.Post(batch) }
			for range 64 {
				p.Step(echo)
			}
			p.count = counters{}
			for p.count.segments < uint64(b.N) {
				p.Step(echo)
			}
			n := float64(p.count.segments)
			ns := func(ticks uint64) float64 { return float64(p.clock.ns(ticks)) / n }
			k := &p.count
			b.ReportMetric(ns(k.rxTicks+k.groTicks+k.handlerTicks+k.txTicks), "ns/pkt")
			b.ReportMetric(ns(k.txTicks), "tx-ns/pkt")
			b.ReportMetric(ns(k.deviceTicks), "device-ns/pkt")
			b.ReportMetric(0, "ns/op")
		})
	}
}
