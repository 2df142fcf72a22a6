package nic

import "github.com/millrace-net/millrace/desc"

// A wqe is the device's copy of a send WQE, and what it asks for. It is
// read once, so that nothing the driver writes later changes what was checked.
type wqe struct {
	kind    sends
	sums    desc.SendCSum
	tagged  bool   // a tag is inserted
	special bool   // frames need more than a copy
	blocks  uint16 // that the WQE takes; of a bad one as many as there can be
	end     int    // its length in bytes
	data    int    // where its data segments begin
	header  int    // bytes of the inline header
	bytes   int    // that its header and its data segments name
	inlined int    // of these, those that lie in the WQE
	raw     [desc.MaxSendBlocks * desc.BlockBytes]byte
}

func (w *wqe) control() *desc.ControlSegment { return (*desc.ControlSegment)(w.raw[:]) }
func (w *wqe) eth() *desc.EthSegment         { return (*desc.EthSegment)(w.raw[ethAt:]) }

// inlineHeader is the head of the frame that lies in the WQE.
func (w *wqe) inlineHeader() []byte {
	end := inlineAt + w.header
	return w.raw[inlineAt:end:end]
}

const (
	ethAt    = desc.SegmentBytes
	inlineAt = ethAt + desc.InlineStart
	allSums  = desc.SendCSumL3 | desc.SendCSumL4 | desc.SendCSumInnerL3 | desc.SendCSumInnerL4
)

// sends is what a WQE sends; each kind has a counter.
type sends uint8

const (
	sendsNothing sends = iota // NOP
	sendsFrame
	sendsLarge
	sendsMulti
	numSends
)

// fetch reads the WQE at the front. It is none when it has no length, runs over
// the doorbell or the edge of its fragment, or belongs to another place or
// queue (facts/mlx5e.md 13). 0: it can be done.
func (s *sender) fetch(limit uint16) desc.Syndrome {
	w := &s.wqe
	*(*desc.SendBlock)(w.raw[:]) = *s.sq.At(uint32(s.taken))
	s.count.wqes++
	c, rest := w.control(), limit-s.taken
	n := c.Segments()
	blocks := uint16(n+desc.SegmentsPerBlock-1) / desc.SegmentsPerBlock
	edge := desc.BlocksPerFragment - s.taken%desc.BlocksPerFragment
	w.end, w.blocks = n*desc.SegmentBytes, max(1, min(blocks, rest))
	if blocks == 0 || blocks > rest || blocks > edge ||
		c.Index() != s.taken || c.Queue() != s.sq.Number {
		return desc.LocalQPOp
	}
	if blocks > 1 {
		copy(w.raw[:w.end], s.sq.Fragment(uint32(s.taken)))
	}
	if !s.live {
		return desc.WRFlush
	}
	s.begun = true
	if m := s.dev.faults; m != nil {
		if y := m.spoilSend(); y != 0 {
			return y
		}
	}
	return s.open()
}

// open checks what the WQE asks for; 0: it can be done.
func (s *sender) open() desc.Syndrome {
	w := &s.wqe
	op := w.control().Opcode()
	if op == desc.SendNop {
		w.kind, w.inlined = sendsNothing, 0
		return 0
	}
	if w.end < ethAt+desc.SegmentBytes {
		return desc.LocalQPOp
	}
	eth := w.eth()
	w.header = eth.InlineBytes()
	if inlineAt+w.header > w.end {
		return desc.LocalQPOp
	}
	w.data = (2 + desc.InlineSegments(w.header)) * desc.SegmentBytes
	w.sums = eth.CSum() & allSums
	_, _, w.tagged = eth.Tag()
	w.special = w.sums != 0 || w.tagged || s.dev.cfg.MinInline != desc.InlineNone
	if w.special && s.dev.lacks(w) {
		return desc.LocalQPOp
	}
	switch op {
	case desc.SendFrame:
		w.kind = sendsFrame
		return w.measure()
	case desc.SendLarge:
		w.kind = sendsLarge
		return s.openLarge()
	case desc.SendMulti:
		w.kind = sendsMulti
		return s.openMulti()
	}
	return desc.LocalQPOp
}

// lacks says that the WQE asks for a feature that is off.
func (d *Device) lacks(w *wqe) bool {
	return w.sums != 0 && d.features&TxChecksum == 0 || w.tagged && d.features&VLANInsert == 0
}

// resume goes on with a WQE that waits for the cable. It finds the payload of a
// large packet again: between two Steps the driver may have unmapped what it
// must not. Of other WQEs the device looks up each frame when it sends it.
func (s *sender) resume() desc.Syndrome {
	switch {
	case !s.live:
		return desc.WRFlush
	case s.wqe.kind != sendsLarge:
		return 0
	case !s.gather():
		return desc.LocalProt
	}
	s.cut.Move(s.pieces[:s.parts])
	return 0
}
