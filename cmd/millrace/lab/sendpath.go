package lab

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/rr"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/tx"
)

// A sendSetup is a send path to be measured: requests and responses where there
// is a profile, else a flood.
type sendSetup struct {
	profile rr.Profile
	size    int // of a frame of the flood, in bytes
	batch   int // packets a doorbell
	dma     dma.Config
	tx      tx.Config
	rings   *mem.Region // lent to the receive queue
	pages   *mem.Region // of payload
	packets int         // that a lap sends; 0 means sendLap
}

const (
	sendLap     = 1 << 13
	sendPackets = 1024 // records of the sending host
	cableFrames = 512
)

// A sendPath is an open sendSetup. Its thread owns everything.
type sendPath struct {
	*sendSetup
	dom   *dma.Domain
	dev   *nic.Device
	queue *tx.Queue
	host  *rr.Host
	out   *packet.Batch // to be posted
	burst *packet.Batch // of these, for the next doorbell
	now   int64

	driver, device uint64 // ticks; the device's hold those of client or sink
	blocks         uint64 // of the ring that were written
	rung           uint16 // the doorbell, as last seen

	*exchange // requests and responses
	flood     *rr.Flood
	sink      *rr.Sink // nil: an exchange
	paused    bool
}

// measure opens the path, warms it up and times a lap. A packet that is lost,
// wrong, or not back at the end makes the measurement fail.
func (s *sendSetup) measure(p *method.Probe) (v result.Values, err error) {
	h, err := s.open(p.Seed)
	defer func() { err = errors.Join(err, h.close()) }()
	if err != nil {
		return nil, err
	}
	n := uint64(s.packets)
	if n == 0 {
		n = sendLap
	}
	h.lap(p, n/4)
	p.Begin()
	before := h.read()
	h.lap(p, n)
	after := h.read()
	return after.since(&before), h.settle()
}

func (s *sendSetup) open(seed uint64) (h *sendPath, err error) {
	h = &sendPath{sendSetup: s, dom: dma.New(s.dma)}
	if h.queue, err = tx.New(s.tx, h.dom); err != nil {
		return h, err
	}
	if h.dev, err = nic.New(nic.Config{}, h.dom); err != nil {
		return h, err
	}
	if _, err = h.dev.AddSQ(h.queue.SQ()); err != nil {
		return h, err
	}
	near, far, err := nic.NewCable(cableFrames)
	if err != nil {
		return h, err
	}
	h.dev.PlugOut(near)
	m := rr.Memory{Region: s.pages, Pages: s.pages.Pages(), Packets: sendPackets}
	if s.tx.KeptMapped {
		m.KeptMapped = h.dom
	}
	if s.size != 0 {
		err = h.openFlood(m, far, seed)
	} else {
		err = h.openExchange(m, far, seed)
	}
	if err != nil {
		return h, err
	}
	slab := h.host.Slab()
	h.out, h.burst = packet.NewBatch(slab, 2*pollBudget), packet.NewBatch(slab, s.batch)
	return h, h.queue.Serve(slab, h.host.Free)
}

func (h *sendPath) openFlood(m rr.Memory, far *nic.End, seed uint64) (err error) {
	if h.flood, err = rr.NewFlood(h.size, m, seed); err != nil {
		return err
	}
	h.host, h.sink = &h.flood.Host, rr.NewSink(far, h.size, seed)
	return nil
}

// patience is how many turns may bring nothing.
const patience = 1000

var errStuck = fmt.Errorf("nothing moved in %d turns, with packets on their way", patience)

// lap takes turns until n packets were taken from the cable.
func (h *sendPath) lap(p *method.Probe, n uint64) {
	far, idle := h.far(), 0
	for end := far.Taken + n; far.Taken < end && h.err() == nil && idle < patience; idle++ {
		before := far.Taken
		p.Lap(h.turn())
		if far.Taken != before {
			idle = 0
		}
	}
}

// far is what the far end of the cable has seen.
func (h *sendPath) far() *rr.Tally {
	if h.sink != nil {
		return &h.sink.Tally
	}
	return &h.client.Tally
}

// err is what went wrong at either end.
func (h *sendPath) err() error { return errors.Join(h.host.Err(), h.far().Err()) }

// turn lets the device do what is due and the driver what follows from that,
// and gives the driver's ticks.
func (h *sendPath) turn() uint64 {
	start := cpu.TSC()
	h.now++
	h.dev.Step(h.now)
	if h.sink != nil {
		h.sink.Drain()
	}
	begin := cpu.TSC()
	h.device += begin - start
	h.queue.Reap(h.now)
	switch {
	case h.out.Len()+h.burst.Len() > 0: // the queue was stopped
	case h.sink == nil:
		h.answer(h.out)
	case !h.paused:
		h.flood.Fill(h.out, burst)
	}
	h.post()
	ticks := cpu.TSC() - begin
	h.driver += ticks
	rung := uint16(h.queue.SQ().Producer.Load())
	h.blocks += uint64(rung - h.rung)
	h.rung = rung
	return ticks
}

// post gives the queue what is to be sent, with a doorbell a batch. A queue
// that is stopped leaves the rest for the next turn.
func (h *sendPath) post() {
	for h.out.Len()+h.burst.Len() > 0 {
		n := min(h.burst.Room(), h.out.Len())
		for i := range n {
			h.burst.Add(h.out.Index(i))
		}
		h.out.RemoveFront(n)
		h.queue.Post(h.burst)
		h.queue.Flush()
		if h.burst.Len() > 0 {
			return
		}
	}
}

// settle ends the traffic, and checks that all that was sent has arrived and
// is home.
func (h *sendPath) settle() error {
	h.paused = true
	if h.sink == nil {
		h.client.Pause()
	}
	for n := 0; h.outstanding() > 0; n++ {
		if n == patience {
			return errors.Join(h.err(), errStuck)
		}
		h.turn()
	}
	h.queue.Reap(h.now)
	d, q := h.dev.Stats(), h.queue.Stats()
	switch {
	case h.err() != nil:
		return h.err()
	case q.Posted != h.far().Taken || q.Posted != d.TxPacketsPhy || q.Done != q.Posted:
		return fmt.Errorf("%d packets were refused, %d posted and %d done; %d frames were "+
			"sent, %d taken", q.Dropped, q.Posted, q.Done, d.TxPacketsPhy, h.far().Taken)
	}
	return nil
}

func (h *sendPath) outstanding() int {
	n := h.queue.InFlight() + h.out.Len() + h.burst.Len()
	if h.sink == nil {
		n += h.client.Outstanding()
	}
	return n
}

// close gives everything back and checks what the domain has to say.
func (h *sendPath) close() error {
	var errs []error
	if h.queue != nil {
		errs = append(errs, h.queue.Close())
	}
	if h.exchange != nil && h.rx != nil {
		errs = append(errs, h.rx.Close())
	}
	if h.host != nil {
		errs = append(errs, h.host.Close())
	}
	if s := h.dom.Stats(); s.Maps != s.Unmaps || s.DeviceFaults+s.DriverFaults != 0 {
		errs = append(errs, fmt.Errorf("%d maps, %d unmaps, %d faults of the device, %d of the "+
			"driver", s.Maps, s.Unmaps, s.DeviceFaults, s.DriverFaults))
	}
	return errors.Join(errs...)
}
