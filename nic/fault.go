package nic

import (
	"fmt"
	"math/rand/v2"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/counter"
)

// Faults are the chances, per mille, that something goes wrong, drawn from
// Config.Seed. The zero value is a good wire and a device that works.
type Faults struct {
	Wire    WireFaults
	Device  DeviceFaults
	Hostile HostileFaults
}

// WireFaults happen to a frame before the port counts it.
type WireFaults struct {
	Drop      int
	Corrupt   int // one bit is flipped
	Duplicate int // the frame arrives twice
	Reorder   int // the frame arrives behind the next one
}

// DeviceFaults are what a device that keeps to the contract may do.
type DeviceFaults struct {
	Hold      int           // of a Step of a queue: it withholds completions, or sends nothing
	HoldSteps int           // for at most so many Steps; 0 means 4
	Stall     int           // of a Step of a send queue: no more completions until a reset
	Error     int           // of a frame, or a WQE sent: it ends in an error completion
	Syndrome  desc.Syndrome // of that; 0 means any
	IOFault   int           // of a frame: it is written to an address that is not mapped
}

// HostileFaults are completions that break the contract. Each of a receive
// queue spoils a frame; those of send queues change nothing of what is sent.
type HostileFaults struct {
	WQEID       int // no such WQE
	ByteCount   int // more bytes than the strides or segments hold
	Strides     int // strides that do not add up
	StrideIndex int // a stride behind the end of the WQE
	Opcode      int // an opcode that no frame has
	Overrun     int // written over the completion before it, which is lost
	Minis       int // of a compressed session: a wrong number of mini CQEs

	SendCounter  int // names another WQE
	SendOpcode   int // an opcode that no send queue has
	SendTwice    int // comes twice
	SendSpurious int // of a Step of a send queue: for no WQE at all
}

// FaultStats counts faults of each kind; for those of single completions, the
// frames in them.
type FaultStats struct {
	Dropped, Corrupted, Duplicated, Reordered uint64
	Holds, Stalls, Errors, IOFaults           uint64

	WQEIDs, ByteCounts, Strides, StrideIndices, Opcodes, Overruns, Minis uint64

	SendCounters, SendOpcodes, SendTwice, SendSpurious uint64
}

func (s *FaultStats) list() counter.List {
	return counter.List{
		{"fault_wire_dropped", s.Dropped},
		{"fault_wire_corrupted", s.Corrupted},
		{"fault_wire_duplicated", s.Duplicated},
		{"fault_wire_reordered", s.Reordered},
		{"fault_holds", s.Holds},
		{"fault_stalls", s.Stalls},
		{"fault_errors", s.Errors},
		{"fault_io", s.IOFaults},
		{"fault_wqe_id", s.WQEIDs},
		{"fault_byte_count", s.ByteCounts},
		{"fault_strides", s.Strides},
		{"fault_stride_index", s.StrideIndices},
		{"fault_opcode", s.Opcodes},
		{"fault_overrun", s.Overruns},
		{"fault_minis", s.Minis},
		{"fault_send_counter", s.SendCounters},
		{"fault_send_opcode", s.SendOpcodes},
		{"fault_send_twice", s.SendTwice},
		{"fault_send_spurious", s.SendSpurious},
	}
}

// check says which chance is none.
func (f *Faults) check() error {
	for _, c := range []struct {
		name  string
		value int
	}{
		{"Wire.Drop", f.Wire.Drop},
		{"Wire.Corrupt", f.Wire.Corrupt},
		{"Wire.Duplicate", f.Wire.Duplicate},
		{"Wire.Reorder", f.Wire.Reorder},
		{"Device.Hold", f.Device.Hold},
		{"Device.Stall", f.Device.Stall},
		{"Device.Error", f.Device.Error},
		{"Device.IOFault", f.Device.IOFault},
		{"Hostile.WQEID", f.Hostile.WQEID},
		{"Hostile.ByteCount", f.Hostile.ByteCount},
		{"Hostile.Strides", f.Hostile.Strides},
		{"Hostile.StrideIndex", f.Hostile.StrideIndex},
		{"Hostile.Opcode", f.Hostile.Opcode},
		{"Hostile.Overrun", f.Hostile.Overrun},
		{"Hostile.Minis", f.Hostile.Minis},
		{"Hostile.SendCounter", f.Hostile.SendCounter},
		{"Hostile.SendOpcode", f.Hostile.SendOpcode},
		{"Hostile.SendTwice", f.Hostile.SendTwice},
		{"Hostile.SendSpurious", f.Hostile.SendSpurious},
	} {
		if c.value < 0 || c.value > 1000 {
			return fmt.Errorf("nic: Faults.%s is %d, want 0 to 1000 per mille", c.name, c.value)
		}
	}
	if f.Device.HoldSteps < 0 {
		return fmt.Errorf("nic: Faults.Device.HoldSteps is %d, want 1 or more, or 0 for %d",
			f.Device.HoldSteps, defaultHoldSteps)
	}
	return nil
}

const defaultHoldSteps = 4

// mishaps draws faults and makes them happen. Everything random of a device
// comes from here.
type mishaps struct {
	Faults
	rand  *rand.Rand
	count *counters
	held  Frame // that the next one overtakes; Data is nil if there is none
	buf   [2][]byte
}

// newMishaps is nil when nothing can go wrong.
func newMishaps(f Faults, seed uint64, count *counters) (*mishaps, error) {
	if f == (Faults{}) {
		return nil, nil
	}
	if f.Device.HoldSteps == 0 {
		f.Device.HoldSteps = defaultHoldSteps
	}
	return &mishaps{Faults: f, rand: rand.New(rand.NewPCG(seed, 0)), count: count}, f.check()
}

func (m *mishaps) hit(perMille int) bool { return perMille > 0 && m.rand.IntN(1000) < perMille }

// arrive lets the frame come in as the wire delivers it.
func (m *mishaps) arrive(d *Device, f *Frame) {
	count := &m.count.faults
	if m.hit(m.Wire.Drop) {
		count.Dropped++
		return
	}
	g := *f
	if len(g.Data) > 0 && m.hit(m.Wire.Corrupt) {
		count.Corrupted++
		g.Data = m.copy(0, g.Data)
		bit := m.rand.IntN(len(g.Data) * 8)
		g.Data[bit/8] ^= 1 << (bit % 8)
	}
	if m.held.Data == nil && m.hit(m.Wire.Reorder) {
		count.Reordered++
		m.held, m.held.Data = g, m.copy(1, g.Data)
		return
	}
	d.receive(&g)
	if m.hit(m.Wire.Duplicate) {
		count.Duplicated++
		d.receive(&g)
	}
	m.release(d)
}

// copy keeps b in buffer i.
func (m *mishaps) copy(i int, b []byte) []byte {
	m.buf[i] = append(m.buf[i][:0], b...)
	return m.buf[i]
}

// release lets the frame in that was overtaken.
func (m *mishaps) release(d *Device) {
	if m.held.Data != nil {
		d.receive(&m.held)
		m.held.Data = nil
	}
}

// settle ends the Step: no frame stays on the wire.
func (m *mishaps) settle(d *Device) {
	m.release(d)
	for _, q := range d.queues {
		if q.live && q.hold == 0 && m.hit(m.Device.Hold) {
			q.hold = m.holdFor()
		}
	}
	for _, s := range d.senders {
		if s.live {
			m.settleSend(s)
		}
	}
}

func (m *mishaps) holdFor() (steps int) {
	m.count.faults.Holds++
	return 1 + m.rand.IntN(m.Device.HoldSteps)
}

var syndromes = []desc.Syndrome{
	desc.LocalLength, desc.LocalQPOp, desc.LocalProt, desc.WRFlush, desc.MWBind, desc.BadResp,
	desc.LocalAccess, desc.RemoteInvalReq, desc.RemoteAccess, desc.RemoteOp,
	desc.TransportRetryExc, desc.RNRRetryExc, desc.RemoteAborted,
}

// complete completes a frame of the queue, or does it wrong.
func (m *mishaps) complete(q *queue, c *desc.CQE, p place, frames int) fate {
	if m.hit(m.Device.Error) {
		m.fail(q, p)
		return errored
	}
	if m.lie(q, c, p, frames) {
		return spoilt
	}
	q.out.add(c, p.counter, frames)
	return delivered
}

// syndrome is that of an error that happens.
func (m *mishaps) syndrome() desc.Syndrome {
	m.count.faults.Errors++
	if s := m.Device.Syndrome; s != 0 {
		return s
	}
	return syndromes[m.rand.IntN(len(syndromes))]
}

// fail ends the frame in an error completion.
func (m *mishaps) fail(q *queue, p place) {
	s := m.syndrome()
	if s.NeedsRecovery() {
		q.stop(s, p)
	} else {
		q.errorCQE(s, p)
	}
}
