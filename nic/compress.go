package nic

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/desc"
)

// maxRun bounds a session of CompressBasic. The format has no limit but the
// ring.
const maxRun = 256

// A run is a session of compressed completions that is being collected
// (desc, facts/mlx5e.md 2.4 and 2.5).
type run struct {
	kind    desc.Compression
	format  desc.MiniFormat
	on      bool      // the last plain completion may be a title
	mask    [8]uint64 // of the bytes that title and completion must share
	title   desc.CQE
	counter uint16 // of the title
	next    uint16 // counter that the driver will work out for the next one
	at      uint32 // slot of the title (basic) or of the open minis (enhanced)
	n       int    // completions in the session; enhanced: minis in the open slot
}

// setup prepares for the queue's format. kind is CompressNone while the
// feature is off.
func (r *run) setup(kind desc.Compression, format desc.MiniFormat) {
	*r = run{kind: kind, format: format, mask: titleMask(format)}
}

// titleMask has the bits of the fields that a session shares: all but those
// that minis carry, that are worked out, or that sessions have no use for.
func titleMask(f desc.MiniFormat) (mask [8]uint64) {
	var b [64]byte
	for i := range b[:ownOffset] {
		b[i] = 0xff
	}
	clear(b[12:16]) // hash: carried, or the title's packet alone has one
	clear(b[20:22]) // checksum: carried, or of no use
	clear(b[44:48]) // byte count: carried
	switch f {
	case desc.MiniHash:
	case desc.MiniFlowStride:
		clear(b[58:60])
		clear(b[16:17])
	case desc.MiniL3L4Stride:
		clear(b[29:30])
		clear(b[16:17])
	default:
		clear(b[16:17]) // hash type
	}
	for i := range mask {
		mask[i] = binary.LittleEndian.Uint64(b[i*8:])
	}
	return mask
}

// start makes the plain completion at slot counter at the title of what may
// follow.
func (r *run) start(c *desc.CQE, counter uint16, at uint32) {
	if r.kind == desc.CompressNone {
		return
	}
	r.on, r.title, r.counter, r.at, r.n = true, *c, counter, at, 0
	if r.kind == desc.CompressBasic {
		r.n = 1
	}
	r.follow(c, counter)
}

// follow works out the counter of the next completion as the driver does.
func (r *run) follow(c *desc.CQE, counter uint16) {
	r.next = counter + max(1, c.ByteCount().Strides())
}

// fits says whether c can be a mini of the session.
func (r *run) fits(c *desc.CQE, counter uint16) bool {
	if !r.format.HasStride() && counter != r.next {
		return false
	}
	for i, m := range r.mask {
		if (binary.LittleEndian.Uint64(c[i*8:])^binary.LittleEndian.Uint64(r.title[i*8:]))&m != 0 {
			return false
		}
	}
	return true
}

func (r *run) writeMini(m *desc.MiniCQE, c *desc.CQE, counter uint16) {
	switch r.format {
	case desc.MiniHash:
		m.SetHash(c.Hash())
	case desc.MiniFlowStride:
		m.SetFlowTag(uint16(c.FlowTag()))
	case desc.MiniL3L4Stride:
		m.SetHdrType(c.HdrType())
	default:
		m.SetHash(0) // the half of a stride index that is not there
		m.SetCheckSum(c.CheckSum())
	}
	if r.format.HasStride() {
		m.SetStride(counter)
	}
	m.SetByteCount(c.ByteCount())
}

// join makes c a mini of the open session and reports whether it could.
func (o *completions) join(c *desc.CQE, counter uint16, frames int) bool {
	r := &o.run
	basic := r.kind == desc.CompressBasic
	if !r.fits(c, counter) || basic && r.n == maxRun {
		return false
	}
	if basic {
		o.joinBasic(c, counter)
	} else {
		o.joinEnhanced(c, counter)
	}
	o.push(pending{word: noWord, frames: uint16(frames)})
	o.count.minis++
	r.n++
	r.follow(c, counter)
	if !basic && r.n == desc.MaxMinis {
		o.closeEnhanced()
	}
	return true
}

// joinBasic writes mini n. The slot is free: a session of n+1 has as many
// counters. The title's own mini is written with the second one, for before
// there need not be a second slot.
func (o *completions) joinBasic(c *desc.CQE, counter uint16) {
	r := &o.run
	if r.n == 1 {
		o.count.blocks++
		o.count.minis++
		r.writeMini(o.cq.At(r.at+1).Mini(0), &r.title, r.counter)
	}
	slot := r.at + max(1, uint32(r.n)&^(desc.MinisPerSlot-1))
	r.writeMini(o.cq.At(slot).Mini(r.n), c, counter)
}

func (o *completions) joinEnhanced(c *desc.CQE, counter uint16) {
	r := &o.run
	if r.n == 0 {
		o.count.blocks++
		r.at = o.written
	}
	r.writeMini(o.cq.At(r.at).Mini(r.n), c, counter)
}

// closeRun ends the session. A title alone stays a plain completion.
func (o *completions) closeRun() {
	switch r := &o.run; {
	case r.n == 0:
	case r.kind == desc.CompressEnhanced:
		o.closeEnhanced()
	default:
		o.closeBasic()
	}
}

func (o *completions) closeBasic() {
	r := &o.run
	if r.n > 1 {
		n := o.told(r.n)
		o.cq.At(r.at).SetByteCount(desc.ByteCount(n))
		o.pending(r.at).word |= desc.OwnWord(desc.FormatCompressed) << 2
	}
	r.on, r.n = false, 0
}

// closeEnhanced ends a slot of minis; more may follow under the same title.
// The slots it stands for get the lap as well: one that is passed over in
// every lap would look valid again 256 laps after it was written.
func (o *completions) closeEnhanced() {
	r := &o.run
	n := desc.Opcode(o.told(r.n) - 1)
	o.pending(r.at).word = desc.PackOwn(0, n, desc.FormatCompressed, o.cq.Lap(r.at))
	for i := r.at + 1; i != r.at+uint32(r.n); i++ {
		o.pending(i).word = desc.PackOwn(0, desc.OpInvalid, desc.FormatPlain, o.cq.Lap(i))
	}
	r.n = 0
}
