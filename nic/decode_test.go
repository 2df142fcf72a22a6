package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
)

// poll takes all completions there are and returns their packets.
func (d *driver) poll() []received { return d.pollSome(1 << 30) }

// pollSome takes about n; sessions are not split.
func (d *driver) pollSome(n int) []received {
	d.got = d.got[:0]
	for start := d.cc; int(d.cc-start) < n && !d.broken && d.decode(); {
	}
	d.rq.CQ.Consumer.Ring(d.cc & consumerMask)
	return d.got
}

// decode takes one completion, or one session of them (desc, mini.go).
func (d *driver) decode() bool {
	cq := d.rq.CQ
	c, lap := cq.At(d.cc), cq.Lap(d.cc)
	w := c.Own()
	enhanced := cq.Compression == desc.CompressEnhanced
	if ready := w.ReadyIn(lap); !enhanced && !ready || enhanced && !w.ValidIn(lap) {
		return false
	}
	switch {
	case w.Format() != desc.FormatCompressed:
		d.title = *c
		d.cc++
		d.take(d.title)
	case enhanced:
		minis := *c
		for i := range w.Minis() {
			d.mini(minis.Mini(i))
		}
		d.cc += uint32(w.Minis())
	default:
		d.basic(c)
	}
	return true
}

func (d *driver) basic(c *desc.CQE) {
	n, start := int(c.ByteCount()), d.cc
	if d.wary && (n < 1 || n > len(d.rq.CQ.Entries)) {
		d.broken = true
		return
	}
	d.title = *c
	d.next = c.WQECounter()
	for i := range n {
		slot := start + 1
		if i >= desc.MinisPerSlot {
			slot = start + uint32(i)&^(desc.MinisPerSlot-1)
		}
		d.mini(d.rq.CQ.At(slot).Mini(i))
		if i == 0 && d.rq.CQ.MiniFormat != desc.MiniHash { // the title's packet alone has it
			d.title.SetHash(0)
			d.title.SetHashType(0)
		}
	}
	d.rq.CQ.Consumed(start, n)
	d.cc += uint32(n)
}

// mini expands one mini CQE with the title.
func (d *driver) mini(m *desc.MiniCQE) {
	c, f := d.title, d.rq.CQ.MiniFormat
	c.SetOpOwn(c.OpOwn() &^ 0x0c)
	c.SetByteCount(m.ByteCount())
	c.SetWQECounter(d.next)
	switch f {
	case desc.MiniCSum, desc.MiniCSumStride:
		c.SetCheckSum(m.CheckSum())
	case desc.MiniHash:
		c.SetHash(m.Hash())
	case desc.MiniL3L4Stride:
		c.SetHdrType(m.HdrType())
	case desc.MiniFlowStride:
		c.SetFlowTag(uint32(m.FlowTag()))
	}
	if f.HasStride() {
		c.SetWQECounter(m.Stride())
	}
	d.take(c)
}

// take handles one completion: its frame, its strides.
func (d *driver) take(c desc.CQE) {
	n := c.ByteCount()
	if d.wary && (d.broken || !d.plausible(&c)) {
		d.broken = true
		return
	}
	d.next = c.WQECounter() + max(1, n.Strides())
	p := received{CQE: c}
	if p.opcode() == desc.OpRespSend && !n.Filler() && !d.mute {
		p.data = d.copyOut(&c)
	}
	if p.opcode() != desc.OpRespErr || c.Syndrome() != desc.WRFlush {
		d.account(&c)
	}
	if !d.mute {
		d.got = append(d.got, p)
	}
}

// plausible says whether a completion goes on where the one before ended.
func (d *driver) plausible(c *desc.CQE) bool {
	n, op := c.ByteCount(), desc.Opcode(c.OpOwn()>>4)
	if d.rq.Type == desc.Cyclic || op == desc.OpRespErr {
		return op == desc.OpRespErr || op == desc.OpRespSend && n.Strides() == 0 &&
			int(n.Bytes()) <= int(d.rq.Segments[0].ByteCount())*d.rq.SegsPerWQE
	}
	id := int(c.WQEID())
	if id >= len(d.rq.List) || op != desc.OpRespSend {
		return false
	}
	if id != d.current && d.consumed[d.current] != 0 {
		return false
	}
	d.current = id
	strides := int(n.Strides())
	return strides > 0 && int(c.WQECounter()) == d.consumed[id] &&
		d.consumed[id]+strides <= 1<<d.rq.LogStrides &&
		(n.Filler() || (int(n.Bytes())+1<<d.rq.LogStrideBytes-1)>>d.rq.LogStrideBytes == strides)
}

func (d *driver) account(c *desc.CQE) {
	if d.rq.State() != desc.Ready {
		return
	}
	if d.rq.Type == desc.Cyclic {
		d.post(1)
		return
	}
	id := int(c.WQEID())
	d.consumed[id] += int(c.ByteCount().Strides())
	switch all := 1 << d.rq.LogStrides; {
	case d.consumed[id] == all:
		d.pop(id)
	case d.consumed[id] > all:
		d.t.Fatalf("WQE %d has consumed %d strides", id, d.consumed[id])
	}
}

// copyOut syncs and copies the frame of a completion, page by page.
func (d *driver) copyOut(c *desc.CQE) (frame []byte) {
	n := int(c.ByteCount().Bytes())
	if d.rq.Type == desc.Cyclic {
		wqe := int(c.WQECounter()) & (1<<d.rq.LogWQEs - 1)
		for s := wqe * d.rq.SegsPerWQE; n > 0; s++ {
			m := min(n, int(d.rq.Segments[s].ByteCount()))
			frame = append(frame, d.bytes(d.pages[s], 0, m)...)
			n -= m
		}
		return frame
	}
	pageBytes := 1 << d.rq.LogPageBytes
	at := int(c.WQECounter())<<d.rq.LogStrideBytes + d.rq.HeadRoom
	for n > 0 {
		page, off := at/pageBytes, at%pageBytes
		m := min(n, pageBytes-off)
		ref := d.filler
		if page < d.rq.PagesPerWQE {
			ref = d.pages[int(c.WQEID())*d.rq.PagesPerWQE+page]
		}
		frame = append(frame, d.bytes(ref, off, m)...)
		at, n = at+m, n-m
	}
	return frame
}

func (d *driver) bytes(page mem.Ref, off, n int) []byte {
	d.dom.SyncForCPU(page.Meta().IOVA+uint64(off), uint32(n))
	return page.Bytes(uint32(off), uint32(n))
}
