package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// put sends the frame of n bytes that begins with the inline header and goes on
// with the data segments between two bytes of the WQE, with a tag and checksums
// where the WQE asks for them. It reports false, and sends nothing, while the
// cable is full.
func (s *sender) put(from, to, n int) (sent bool, y desc.Syndrome) {
	w, front := &s.wqe, 0
	if w.tagged {
		front = header.VLANBytes
	}
	if n+front > desc.MaxBytes || w.tagged && n < header.TagOffset {
		return false, desc.LocalLength
	}
	f := s.dev.reserve(n + front)
	if f == nil {
		return false, 0
	}
	if y = s.fill(f.Data[front:], from, to); y == 0 && w.special {
		y = s.finishFrame(f.Data)
	}
	if y != 0 {
		s.dev.cancel()
		return false, y
	}
	s.count.sent++
	s.count.sentBytes += uint64(n + front)
	s.dev.commit(f)
	return true, 0
}

// fill copies the header and the bytes of the data segments to b.
func (s *sender) fill(b []byte, from, to int) desc.Syndrome {
	if s.wqe.header > 0 {
		b = b[copy(b, s.wqe.inlineHeader()):]
	}
	for from < to {
		d := (*desc.DataSegment)(s.wqe.raw[from:])
		n := d.ByteCount()
		if n&desc.InlineData != 0 {
			var piece []byte
			piece, from = s.wqe.inlinePiece(from)
			b = b[copy(b, piece):]
			continue
		}
		piece, ok := s.dev.dom.Reach(d.Addr(), n, false)
		if !ok {
			return desc.LocalProt
		}
		b = b[copy(b, piece):]
		from += desc.SegmentBytes
	}
	return 0
}

// finishFrame does what few WQEs ask for, and looks whether enough of the frame
// was inline.
func (s *sender) finishFrame(b []byte) desc.Syndrome {
	w := &s.wqe
	if w.tagged {
		s.insertTag(b)
	}
	if w.sums != 0 {
		s.dev.fillSums(b, w.sums, &s.info)
	}
	if s.dev.cfg.MinInline != desc.InlineNone && s.dev.mustInline(b, &s.info) > w.header {
		return desc.LocalQPOp
	}
	return 0
}

// reserve lends memory for the frame that is sent next: a slot of the cable, or
// the device's own where nobody listens. nil: the cable is full. It is followed
// by commit or cancel.
func (d *Device) reserve(n int) *Frame {
	if d.cable == nil {
		d.spare.Data = d.spare.Data[:n]
		return &d.spare
	}
	return d.cable.out.reserve(n)
}

// commit sends the frame.
func (d *Device) commit(f *Frame) {
	if d.cable != nil {
		f.Link, f.Time = header.LinkEthernet, 0
		d.cable.out.commit()
	}
}

// cancel sends nothing.
func (d *Device) cancel() {
	if d.cable != nil {
		d.cable.out.cancel()
	}
}

// insertTag puts the tag behind the addresses of a frame that begins
// VLANBytes behind the start of b (facts/mlx5e.md 1.4).
func (s *sender) insertTag(b []byte) {
	tci, service, _ := s.wqe.eth().Tag()
	typ := uint16(header.TypeVLAN)
	if service {
		typ = header.TypeQinQ
	}
	header.InsertTag(b, typ, tci)
	s.count.tagsInserted++
}

// mustInline is how many bytes of the frame must lie in its WQE.
func (d *Device) mustInline(b []byte, info *header.Info) int {
	header.Parse(header.LinkEthernet, b, &d.parse, info)
	n := max(int(info.Outer), taggedBytes)
	switch d.cfg.MinInline {
	case desc.InlineIP:
		l4 := info.L4
		if info.Encap != header.EncapNone {
			l4 = info.Tunnel
		}
		n = max(n, int(l4))
	case desc.InlineTCPUDP:
		n = max(n, header.Length(header.LinkEthernet, b))
	}
	return min(n, len(b))
}
