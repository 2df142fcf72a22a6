package rx

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A device is the other side of a queue, as small as can be: it writes frames
// where WQEs say and makes completions, which wait in pending until one of the
// publishing verbs writes them. Tests edit what is pending.
type device struct {
	rq      *desc.RQ
	dom     *dma.Domain
	resets  uint32
	cc      uint32 // completions written
	wqe     uint16 // current WQE
	taken   uint16 // WQEs finished
	stride  uint32 // next free one of the current WQE
	pending []completion
	refused int  // frames for which nothing was posted
	cold    bool // write past the caches
}

// A completion is a CQE before it is in the ring.
type completion struct {
	cqe     desc.CQE
	counter uint16
	op      desc.Opcode
}

func newDevice(q *Queue) *device {
	return &device{rq: q.RQ(), dom: q.dom, resets: q.RQ().Resets()}
}

// follow forgets its place when the queue was reset.
func (d *device) follow() {
	if n := d.rq.Resets(); n != d.resets {
		*d = device{rq: d.rq, dom: d.dom, resets: n, refused: d.refused, cold: d.cold}
	}
}

// send writes one frame and makes its completion; false: nothing is posted, or
// the queue is in error or its CQ full.
func (d *device) send(frame []byte) bool {
	d.follow()
	ok := d.rq.State() == desc.Ready && d.room() > 0
	switch {
	case !ok:
	case d.rq.Type == desc.Striding:
		ok = d.stripe(frame)
	default:
		ok = d.scatter(frame)
	}
	if !ok {
		d.refused++
	}
	return ok
}

// room is how many completions the CQ still holds.
func (d *device) room() int {
	used := (d.cc - d.rq.CQ.Consumer.Load()) & counterMask
	return len(d.rq.CQ.Entries) - int(used) - len(d.pending)
}

func (d *device) posted() bool { return uint16(d.rq.Producer.Load())-d.taken != 0 }

func (d *device) stripe(frame []byte) bool {
	if !d.posted() {
		return false
	}
	total := uint32(1) << d.rq.LogStrides
	need := uint32(len(frame)+1<<d.rq.LogStrideBytes-1) >> d.rq.LogStrideBytes
	if d.stride+need > total {
		d.strides(total-d.stride, desc.FillerByteCount(uint16(total-d.stride)), 0)
		if !d.posted() {
			return false
		}
	}
	data := d.rq.List[d.wqe].Data()
	d.write(data.Addr()+uint64(d.stride)<<d.rq.LogStrideBytes, frame)
	d.strides(need, desc.PackByteCount(uint16(need), uint16(len(frame))), uint16(d.stride))
	return true
}

// strides uses up n strides of the current WQE.
func (d *device) strides(n uint32, bc desc.ByteCount, index uint16) {
	c := completion{counter: index, op: desc.OpRespSend}
	c.cqe.SetWQEID(d.wqe)
	c.cqe.SetByteCount(bc)
	d.pending = append(d.pending, c)
	if d.stride += n; d.stride == 1<<d.rq.LogStrides {
		d.wqe, d.stride = d.rq.List[d.wqe].Next(), 0
		d.taken++
	}
}

// write puts b at an address of the queue's own space.
func (d *device) write(addr uint64, b []byte) {
	page := uint64(1) << d.rq.LogPageBytes
	for len(b) > 0 {
		off := addr & (page - 1)
		n := min(page-off, uint64(len(b)))
		iova := d.rq.MTT[addr>>d.rq.LogPageBytes]&^desc.MTTAccessBits + off
		if dst, ok := d.dom.Reach(iova, uint32(n), true); ok && d.cold {
			mem.CopyNT(dst, b[:n])
		} else if ok {
			copy(dst, b[:n])
		}
		addr, b = addr+n, b[n:]
	}
}

func (d *device) scatter(frame []byte) bool {
	if !d.posted() {
		return false
	}
	c := completion{counter: d.taken, op: desc.OpRespSend}
	c.cqe.SetByteCount(desc.ByteCount(len(frame)))
	wqe := int(d.taken) & (1<<d.rq.LogWQEs - 1)
	for _, s := range d.rq.Segments[wqe*d.rq.SegsPerWQE:][:d.rq.SegsPerWQE] {
		n := min(s.ByteCount(), uint32(len(frame)))
		if n == 0 {
			break
		}
		if dst, ok := d.dom.Reach(s.Addr(), n, true); ok {
			copy(dst, frame[:n])
		}
		frame = frame[n:]
	}
	if len(frame) > 0 {
		c.op = desc.OpRespErr
		c.cqe.SetSyndrome(desc.LocalLength, 0)
	}
	d.pending = append(d.pending, c)
	d.taken++
	return true
}

// last is the newest pending completion.
func (d *device) last() *desc.CQE { return &d.pending[len(d.pending)-1].cqe }

// fail adds an error completion.
func (d *device) fail(s desc.Syndrome) {
	c := completion{op: desc.OpRespErr}
	c.cqe.SetSyndrome(s, 0)
	d.pending = append(d.pending, c)
}

// plain publishes all that is pending, uncompressed.
func (d *device) plain() {
	for i := range d.pending {
		d.publish(&d.pending[i], desc.FormatPlain)
	}
	d.pending = d.pending[:0]
}

func (d *device) publish(c *completion, f desc.Format) {
	slot := d.rq.CQ.At(d.cc)
	copy(slot[:60], c.cqe[:60])
	slot.Publish(desc.PackOwn(c.counter, c.op, f, d.rq.CQ.Lap(d.cc)))
	d.cc++
}

// basic publishes all that is pending as one session, the title's ownership
// last. Slots that carry no mini array are not touched.
func (d *device) basic() {
	n := len(d.pending)
	if n == 0 {
		return
	}
	title := d.pending[0]
	for k := range d.pending {
		at := d.cc + uint32(k&^7)
		if k < 8 {
			at = d.cc + 1
		}
		d.mini(d.rq.CQ.At(at).Mini(k), &d.pending[k])
	}
	title.cqe.SetByteCount(desc.ByteCount(n))
	d.publish(&title, desc.FormatCompressed)
	d.cc += uint32(n - 1)
	d.pending = d.pending[:0]
}

func (d *device) mini(m *desc.MiniCQE, c *completion) {
	m.SetByteCount(c.cqe.ByteCount())
	m.SetCheckSum(c.cqe.CheckSum())
	if d.rq.CQ.MiniFormat.HasStride() {
		m.SetStride(c.counter)
	}
}

// enhanced publishes the first pending completion as it is and the others in
// arrays of up to seven behind it.
func (d *device) enhanced() {
	if len(d.pending) == 0 {
		return
	}
	d.publish(&d.pending[0], desc.FormatPlain)
	for rest := d.pending[1:]; len(rest) > 0; {
		n := min(len(rest), desc.MaxMinis)
		d.array(rest[:n])
		rest = rest[n:]
	}
	d.pending = d.pending[:0]
}

func (d *device) array(minis []completion) {
	slot := d.rq.CQ.At(d.cc)
	for k := range minis {
		d.mini(slot.Mini(k), &minis[k])
	}
	op := desc.Opcode(len(minis) - 1)
	slot.Publish(desc.PackOwn(0, op, desc.FormatCompressed, d.rq.CQ.Lap(d.cc)))
	d.cc += uint32(len(minis))
}

// flush publishes as the queue's compression says, a session for each WQE.
func (d *device) flush() {
	publish := d.plain
	switch d.rq.CQ.Compression {
	case desc.CompressBasic:
		publish = d.basic
	case desc.CompressEnhanced:
		publish = d.enhanced
	}
	all := d.pending
	for rest := all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].cqe.WQEID() == rest[0].cqe.WQEID() {
			n++
		}
		if d.pending = rest[:n]; n == 1 {
			d.plain() // its minis would lie where the next completion goes
		} else {
			publish()
		}
		rest = rest[n:]
	}
	d.pending = all[:0]
}

// open makes a queue that is closed, with all its pages home, at the end of
// the test.
func open(t testing.TB, cfg Config, dom *dma.Domain) (*Queue, *device) {
	t.Helper()
	q, err := New(cfg, dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if s := q.dom.Stats(); s.Maps != s.Unmaps || s.UnsyncedReads != 0 || s.DriverFaults != 0 {
			t.Errorf("domain at the end: %+v", s)
		}
	})
	return q, newDevice(q)
}

// poisoned is a domain in which bytes that were not synced read as 0xCC.
func poisoned() *dma.Domain { return dma.New(dma.Config{Mode: dma.Bounce, Poison: true}) }
