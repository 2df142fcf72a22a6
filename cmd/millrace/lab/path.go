package lab

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// Frames arrive in bursts of a NAPI budget, and one poll takes them all:
// fillers count as completions too.
const (
	burst      = 64
	pollBudget = burst + 16
)

// A setup is a receive path to be measured: one goroutine, one or more queues.
type setup struct {
	nic    nic.Config
	rx     rx.Config
	gro    gro.Config
	memory []*mem.Region // of one queue each
	pages  int           // of a region that are used
	polls  int           // of each queue in a lap
	steps  int           // of the device in front of each poll; 0 means 1
	apart  bool          // the application has a CPU of its own
	wire   func(seed uint64) (nic.Wire, error)
	app    func() *app
	values func(*reading) result.Values
}

// A path is an open setup. Its thread owns device, queues and packets.
type path struct {
	*setup
	lanes []lane
	app   *app
	away  *away // nil: the application runs on the driver's thread
	now   int64
	read  reading
}

// A lane is one queue with its device and what it passes packets along.
type lane struct {
	dev     *nic.Device
	queue   *rx.Queue
	merge   *gro.Table
	in, out *packet.Batch
	socket  socket
}

// A reading is what a lap took. Ticks of the driver are those of Poll, GRO,
// Free and, on the same core, the application.
type reading struct {
	frames         uint64 // on the wire
	driver, device uint64 // ticks
	payload        uint64 // bytes that the application got
	heads, copied  uint64 // of the warm-up: small heads, bytes copied to them
	length, size   uint64 // of delivered packets: Len, Truesize
	frags, chained uint64 // merged by moving pages, by frag_list
}

// measure opens the path, warms it up with one lap and times another.
func (s *setup) measure(p *method.Probe) (v result.Values, err error) {
	h, err := s.open(p)
	defer func() { err = errors.Join(err, h.close()) }()
	if err != nil {
		return nil, err
	}
	h.lap(p, true)
	p.Begin()
	h.read = reading{heads: h.read.heads, copied: h.read.copied}
	*h.app.count = appCount{}
	h.lap(p, false)
	if err := h.settle(); err != nil {
		return nil, err
	}
	return s.values(&h.read), nil
}

func (s *setup) open(p *method.Probe) (*path, error) {
	h := &path{setup: s, app: s.app()}
	w, err := s.wire(p.Seed)
	if err != nil {
		return h, err
	}
	for i, r := range s.memory {
		if err := h.addLane(w, r, p.Seed+uint64(i)<<32); err != nil {
			return h, err
		}
	}
	if s.apart {
		h.away, err = startAway(h.app, &h.lanes[0], p.CPU)
	}
	return h, err
}

func (h *path) addLane(w nic.Wire, memory *mem.Region, seed uint64) (err error) {
	dom := dma.New(dma.Config{})
	cfg := h.rx
	cfg.Memory.Region, cfg.Memory.Provider = memory, newShuffled(memory, h.pages, seed)
	var l lane
	if l.queue, err = rx.New(cfg, dom); err != nil {
		return err
	}
	h.lanes = append(h.lanes, l)
	p := &h.lanes[len(h.lanes)-1]
	p.in = packet.NewBatch(l.queue.Slab(), pollBudget)
	p.out = packet.NewBatch(l.queue.Slab(), pollBudget)
	p.socket = newSocket(l.queue.Slab(), h.app.read)
	if p.merge, err = gro.New(h.gro, l.queue.Slab()); err != nil {
		return err
	}
	if p.dev, err = nic.New(h.nic, dom); err != nil {
		return err
	}
	p.dev.Plug(w)
	if s := l.queue.SendQueue(); s != nil {
		if _, err = p.dev.AddSQ(s.SQ()); err != nil {
			return err
		}
	}
	_, err = p.dev.AddRQ(l.queue.RQ())
	return err
}

// turnsInLap is how many turns the probe sees as one: the application reads in
// some of them only, and laps of a probe are to be alike.
const turnsInLap = 16

// lap polls every queue so often, one after the other: what belongs to the
// queue stays warm, packets and pages do not. Heads are counted in the lap
// that is not timed.
func (h *path) lap(p *method.Probe, warmup bool) {
	for i := range h.lanes {
		l, ticks := &h.lanes[i], uint64(0)
		for n := range h.polls {
			ticks += h.turn(l, warmup)
			if n%turnsInLap == turnsInLap-1 {
				p.Lap(ticks)
				ticks = 0
			}
		}
		h.read.driver += h.rest(l)
	}
}

// rest lets the application have what is still queued.
func (h *path) rest(l *lane) uint64 {
	if h.away != nil {
		return h.away.rest(l)
	}
	begin := cpu.TSC()
	h.app.take(l.socket.packets)
	l.queue.Free(l.socket.packets)
	l.socket.bytes = 0
	return cpu.TSC() - begin
}

// turn lets the device write a burst and the driver take it, and gives the
// driver's ticks.
func (h *path) turn(l *lane, warmup bool) (ticks uint64) {
	start := cpu.TSC()
	for range max(h.steps, 1) {
		h.now++
		h.read.frames += uint64(l.dev.Step(h.now))
	}
	begin := cpu.TSC()
	h.read.device += begin - start
	l.queue.Poll(l.in, pollBudget)
	if warmup {
		h.countHeads(l.in)
	}
	if h.away != nil {
		ticks = h.away.turn(l, begin)
	} else {
		l.merge.Receive(l.in, l.out)
		l.merge.Flush(l.out)
		if l.socket.add(l.out) {
			h.app.take(l.socket.packets)
			l.queue.Free(l.socket.packets)
		}
		ticks = cpu.TSC() - begin
	}
	h.read.driver += ticks
	return ticks
}

// countHeads counts what was copied to small heads.
func (h *path) countHeads(b *packet.Batch) {
	for i := range b.Len() {
		if p := b.At(i); p.HeadKind == packet.HeadSmall {
			h.read.heads++
			h.read.copied += uint64(p.Linear)
		}
	}
}

// settle completes the reading. A frame that was lost makes it worthless.
func (h *path) settle() error {
	c := h.app.count
	h.read.payload, h.read.length, h.read.size = c.payload, c.length, c.truesize
	for i := range h.lanes {
		l := &h.lanes[i]
		d, s, g := l.dev.Stats(), l.queue.Stats(), l.merge.Stats()
		taken := s.Packets + s.XDPDrop + s.XDPTx
		if taken != d.RxPacketsPhy || s.WQEErr+s.XDPAborted != 0 {
			return fmt.Errorf("queue %d took %d of %d frames: it ran out of memory or of "+
				"descriptors; %d completions were wrong, %d frames the program failed on",
				i, taken, d.RxPacketsPhy, s.WQEErr, s.XDPAborted)
		}
		h.read.frags += g.ByFrags
		h.read.chained += g.ByChain
	}
	return nil
}

func (h *path) close() error {
	var errs []error
	if h.away != nil {
		h.away.stop()
	}
	for i := range h.lanes {
		errs = append(errs, h.lanes[i].queue.Close())
	}
	return errors.Join(errs...)
}
