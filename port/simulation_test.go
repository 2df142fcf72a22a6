package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// A run is one seed: a port of random shape, random traffic and faults.
type run struct {
	rand    *rand.Rand
	cfg     Config
	port    *Port
	traffic *traffic
	honest  bool // nothing changes or forges frames: what comes out was sent
	steps   int
	claimed uint64 // frames that came out and were sent
	xdp     *programs
	answers *answers
}

// The law holds after every step, whatever the wire and the device do; and
// where nothing tampers with frames, what comes out is what was sent: each
// frame at most once, and restored byte for byte from what GRO merged.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Seeds(1000) {
		if err := simulate(seed + uint64(i)); err != nil {
			t.Fatalf("SEED=%d: %v", seed+uint64(i), err)
		}
	}
}

func simulate(seed uint64) error {
	r := &run{rand: testenv.Rand(seed, 1)}
	r.shape()
	var err error
	if r.port, err = Open("nic:", r.cfg); err != nil {
		return fmt.Errorf("%+v: %w", r.cfg, err)
	}
	switch {
	case r.xdp != nil:
		r.port.PlugOut(r.xdp.near)
	case r.answers != nil:
		r.port.PlugOut(r.answers.near)
	}
	r.traffic = newTraffic(r.rand, 20+r.rand.IntN(400), r.cfg.RX.MTU+14)
	r.port.Plug(r.traffic)
	for quiet := 0; quiet < 8 && r.steps < 10000; r.steps++ {
		if !r.port.Step(func(b *packet.Batch) { err = r.take(b) }) && r.traffic.left == 0 {
			quiet++
		}
		if err == nil {
			err = r.law()
		}
		if err == nil && r.xdp != nil {
			err = r.xdp.leave()
		}
		if err == nil && r.answers != nil {
			err = errors.Join(r.answers.leave(), r.answers.law())
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", r.steps, err)
		}
	}
	return r.end()
}

// shape draws the configuration.
func (r *run) shape() {
	pick := func(list ...int) int { return list[r.rand.IntN(len(list))] }
	one := func(n int) bool { return r.rand.IntN(n) == 0 }
	c := &r.cfg
	c.Queues, c.Budget = 1+r.rand.IntN(3), pick(1, 2, 7, 64)
	c.DMA = dma.Config{Mode: dma.Bounce, Poison: true}
	c.NoGRO, c.GRO.Buckets, c.GRO.UDP = one(4), pick(1, 8, 256), one(2)
	c.RX.MTU, c.RX.Entries = pick(144, 576, 1500, 4000, 9000), pick(8, 16, 32)
	c.RX.Type = rx.Type(r.rand.IntN(3))
	c.RX.HeaderCopy = rx.HeaderCopy(r.rand.IntN(2))
	c.RX.Memory = rx.Memory{
		PageBytes: pick(4096, 4096, 16384, 65536), Packets: pick(70, 200, 600), Kind: mem.Auto,
	}
	o := &c.RX.Offloads
	o.Compression = desc.Compression(r.rand.IntN(3))
	if o.Compression == desc.CompressEnhanced {
		c.Budget = max(c.Budget, desc.MaxMinis)
	}
	o.Timestamps = o.Compression == desc.CompressNone && one(2)
	o.Checksum = rx.Checksum(r.rand.IntN(3))
	o.LRO = c.RX.Type != rx.Cyclic && one(4)
	c.NIC.Burst, c.NIC.Bypass, c.NIC.Spill = pick(1, 8, 64), one(2), one(4)
	c.NIC.Off = nic.VLANStrip
	c.NIC.Seed = r.rand.Uint64()
	r.faults(&c.NIC.Faults, one)
	switch {
	case one(3):
		r.answer()
	case !o.LRO && one(2):
		r.attach()
	}
}

// faults: a third of the seeds has none, a third an unreliable wire and
// device, a third a device that lies.
func (r *run) faults(f *nic.Faults, one func(int) bool) {
	r.honest = true
	rate := func() int { return max(0, r.rand.IntN(60)-20) }
	switch r.rand.IntN(3) {
	case 1:
		f.Wire = nic.WireFaults{Drop: rate(), Reorder: rate()}
		f.Device = nic.DeviceFaults{Hold: rate(), Error: rate() / 4, IOFault: rate() / 4}
		if one(2) {
			r.honest = false
			f.Wire.Corrupt, f.Wire.Duplicate = rate(), rate()
		}
	case 2:
		r.honest = false
		f.Hostile = nic.HostileFaults{
			WQEID: rate(), ByteCount: rate(), Strides: rate(), StrideIndex: rate(),
			Opcode: rate(), Overrun: rate() / 4, Minis: rate(),
		}
	}
}

// take is the handler: it checks each packet and drops some.
func (r *run) take(b *packet.Batch) error {
	for i := range b.Len() {
		p := b.At(i)
		if err := r.restore(b.Slab(), p); err != nil {
			return err
		}
		if r.rand.IntN(10) == 0 {
			b.Drop(i, packet.DropFiltered)
		}
	}
	if r.answers != nil {
		return r.answers.post(b)
	}
	return nil
}

// restore cuts the packet and asks for its frames among those sent. What LRO
// merged cannot be restored: it forgets what differed.
func (r *run) restore(s *packet.Slab, p *packet.Packet) error {
	head, payload := gso.Pieces(s, p, nil)
	n := len(head)
	for _, b := range payload {
		n += len(b)
	}
	if n != int(p.Len) {
		return fmt.Errorf("a packet of %d bytes has %d", p.Len, n)
	}
	if !r.honest || r.cfg.RX.Offloads.LRO {
		return nil
	}
	g := p.Shared().GSO
	if g.Size == 0 {
		whole := append([]byte(nil), head...)
		for _, b := range payload {
			whole = append(whole, b...)
		}
		return r.claim(whole)
	}
	var cut gso.Segmenter
	if err := cut.Start(p.Link, head, payload, g); err != nil {
		return err
	}
	for cut.Left() > 0 {
		buf := make([]byte, cut.Need())
		cut.Next(buf)
		if err := r.claim(buf); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) claim(frame []byte) error {
	if r.xdp != nil {
		r.claimed++
		return r.xdp.passed.claim(frame)
	}
	if r.traffic.sent[string(frame)] == 0 {
		return fmt.Errorf("a frame of %d bytes came out that was not sent, or twice: % x",
			len(frame), frame[:min(len(frame), 80)])
	}
	r.traffic.sent[string(frame)]--
	r.claimed++
	return nil
}

// law is what holds after every step.
func (r *run) law() error {
	p := r.port
	d := p.dev.Stats()
	if n := d.Unaccounted(); n != 0 {
		return fmt.Errorf("the device lost track of %d frames: %+v", n, d)
	}
	pages, sending := uint64(0), 0
	for i := range p.lanes {
		sending += p.lanes[i].queue.Books().Sending
	}
	for i := range p.lanes {
		if err := p.lanes[i].law(sending, r.answers != nil); err != nil {
			return fmt.Errorf("queue %d: %w", i, err)
		}
		pages += uint64(p.lanes[i].queue.Books().Total + p.lanes[i].send.queue.Mapped())
	}
	m := p.dom.Stats()
	// What a transmit queue maps is in the counts behind its next Reap.
	if r.answers == nil && m.Maps-m.Unmaps != pages {
		return fmt.Errorf("%d maps, %d unmaps, %d pages and buffers", m.Maps, m.Unmaps, pages)
	}
	if faults := d.Faults.IOFaults; m.DeviceFaults > faults {
		return fmt.Errorf("%d accesses outside a mapping, %d were made to", m.DeviceFaults, faults)
	}
	if m.UnsyncedReads+m.DriverFaults != 0 {
		return fmt.Errorf("%d unsynced reads, %d driver faults", m.UnsyncedReads, m.DriverFaults)
	}
	return nil
}

// law of one lane, when the send queues of programs hold so many references. Where
// the handler posts, it holds on to packets.
func (l *lane) law(sending int, posts bool) error {
	b := l.queue.Books()
	if b.Free+b.Posted+b.Waiting+b.Filler+b.Side+b.Held != b.Total {
		return fmt.Errorf("pages: %+v", b)
	}
	if b.Held < 0 || !posts && (b.Held > sending || b.Packets != 0 || b.Heads != 0) {
		return fmt.Errorf("held behind the handler: %+v", b)
	}
	s := l.queue.Stats()
	if !s.Balanced() {
		return fmt.Errorf("%d received, %d delivered, drops %v", s.Received(), s.Delivered, s.Drops)
	}
	if s.Pool.BadPut+s.Pool.ReturnOverflow != 0 || l.queue.Slab().BadFrees() != 0 {
		return fmt.Errorf("given back twice: %+v", s.Pool)
	}
	if l.merge == nil {
		return nil
	}
	if g := l.merge.Stats(); g.Packets != s.Delivered || g.Packets != g.Merged+g.Out ||
		g.Held != 0 {
		return fmt.Errorf("gro took %d of %d: %+v", g.Packets, s.Delivered, g)
	}
	return nil
}

// end closes the port: all memory is home. Frames that were not delivered
// have been counted, here or in the device.
func (r *run) end() error {
	if r.answers != nil {
		if err := r.answers.end(); err != nil {
			return err
		}
	}
	var packets, drops uint64
	for i := range r.port.lanes {
		s := r.port.lanes[i].queue.Stats()
		drops += s.XDPDrop + s.XDPTx + s.XDPRedirect
		packets += s.Packets
		drops += s.Drops[packet.DropOversize] + s.Drops[packet.DropNoMemory]
	}
	f, lro := &r.cfg.NIC.Faults, r.cfg.RX.Offloads.LRO
	if r.honest && !lro && r.claimed != packets {
		return fmt.Errorf("%d frames came out, %d are counted", r.claimed, packets)
	}
	d := r.port.dev.Stats()
	restarts := f.Device.Error+f.Device.IOFault != 0 || r.cfg.NIC.Spill
	if r.honest && !lro && !restarts && packets+drops != d.RxDelivered {
		return fmt.Errorf("%d packets and %d drops of %d completed", packets, drops, d.RxDelivered)
	}
	dom := r.port.dom
	if err := r.port.Close(); err != nil {
		return err
	}
	if m := dom.Stats(); m.Maps != m.Unmaps {
		return fmt.Errorf("%d maps, %d unmaps", m.Maps, m.Unmaps)
	}
	return nil
}
