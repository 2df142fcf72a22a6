package gro

import (
	"iter"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A Merger merges frames that lie in plain slices, for programs that have
// nothing else of Millrace. The zero value works, with the zero Config. It
// belongs to one goroutine.
type Merger struct {
	engine
	link   header.LinkType
	seg    segment
	packed []packed // since the last loop over Flush; those behind n keep their room
	n      int
	order  []uint32 // finished ones, by place in packed

	headers []byte // of finished aggregates, rewritten
	out     Aggregate
}

// A packed packet is a frame and, if others were merged into it, what it is
// with them.
type packed struct {
	frame   []byte
	payload [][]byte // of the frame, if it was held, and of those merged into it
	header  uint32   // where its rewritten headers are in Merger.headers
	length  uint32
	gso     packet.GSO // Size 0: the frame as it came
	csum    packet.CSum
}

// NewMerger makes a Merger with a Config of its own.
func NewMerger(c Config) (*Merger, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Merger{link: c.Link}
	m.open(c)
	return m, nil
}

// Add lends the Merger a frame until the next loop over Flush has ended, and
// says what became of it. The frame is only read.
func (m *Merger) Add(frame []byte) Verdict {
	m.stats.Packets++
	if m.known > 0 {
		hash := hashPlain(frame)
		if slot, ended := m.quickPlain(hash, frame, len(frame), 0, nil); slot != 0 {
			return m.merge(slot, frame, ended)
		}
		if m.link == header.LinkEthernet {
			if k := m.startPlain(hash, frame, len(frame), 0); k != 0 {
				m.own(k, frame, packet.CSumValid)
				return Verdict{Held, ReasonFirst}
			}
		}
	}
	return m.addAny(frame)
}

// addAny is Add for what is not plain or does not go on.
func (m *Merger) addAny(frame []byte) Verdict {
	if len(m.buckets) == 0 {
		m.open(Config{Buckets: defaultBuckets})
	}
	s := &m.seg
	s.head, s.length = frame, len(frame)
	s.known, s.verified, s.apart, s.segs = m.known, 0, 0, 1
	if slot, ended := m.quick(s); slot != 0 {
		return m.merge(slot, frame, ended)
	}
	return m.addLong(frame)
}

// addLong takes the long way with the frame that m.seg describes.
func (m *Merger) addLong(frame []byte) Verdict {
	s := &m.seg
	header.Parse(m.link, frame, &m.options, &s.info)
	v, slot, ended := m.decide(s)
	for _, k := range m.done {
		m.complete(k)
	}
	switch v.Action {
	case Merged:
		return m.merge(slot, frame, ended)
	case Passed:
		m.give(m.pack(frame, s.csum(m.known)))
		return v
	}
	if k := m.oldest(m.hash); k != 0 {
		m.stats.Evicted++
		m.complete(k)
	}
	m.own(m.hold(s), frame, s.csum(m.known))
	return v
}

// merge adds the payload of a frame to the aggregate.
func (m *Merger) merge(slot uint16, frame []byte, ended bool) Verdict {
	e := &m.slots[slot]
	p := &m.packed[e.owner]
	p.payload = append(p.payload, frame[e.bytes:])
	if ended {
		m.complete(slot)
	}
	return Verdict{Merged, ReasonNone}
}

// own makes frame the first of the aggregate.
func (m *Merger) own(slot uint16, frame []byte, csum packet.CSum) {
	e := &m.slots[slot]
	e.owner = m.pack(frame, csum)
	p := &m.packed[e.owner]
	p.payload = append(p.payload, frame[e.bytes:])
}

// pack takes a place for a frame that is not merged into another.
func (m *Merger) pack(frame []byte, csum packet.CSum) uint32 {
	if m.n == len(m.packed) {
		m.packed = append(m.packed, packed{})
	}
	p := &m.packed[m.n]
	p.frame, p.csum, p.gso.Size = frame, csum, 0
	m.n++
	return uint32(m.n - 1)
}

// csum is what is known of the checksums once the engine has looked.
func (s *segment) csum(known uint8) packet.CSum {
	if s.good(known) > 0 {
		return packet.CSumValid
	}
	return packet.CSumNone
}

// complete takes a held frame out of the table and gives it on.
func (m *Merger) complete(slot uint16) {
	e := &m.slots[slot]
	if e.merged() {
		m.stats.Aggregates++
		p := &m.packed[e.owner]
		p.header, p.length = uint32(len(m.headers)), uint32(e.length())
		m.headers = append(m.headers, p.frame[:e.bytes]...)
		e.finish(m.headers[p.header:], &p.gso)
	}
	m.give(e.owner)
	m.remove(slot)
}

func (m *Merger) give(i uint32) {
	m.stats.Out++
	m.order = append(m.order, i)
}

// Flush completes what is held and ranges over all that came out since the
// last loop, in order. An Aggregate is lent until the loop goes on. When the
// loop has ended, also by break, every frame is given back.
func (m *Merger) Flush() iter.Seq[*Aggregate] {
	// The compiler inlines this, and then allocates nothing for the loop.
	return func(yield func(*Aggregate) bool) { m.loop(yield) }
}

func (m *Merger) loop(yield func(*Aggregate) bool) {
	for m.held > 0 {
		m.complete(m.slots[0].next)
	}
	for _, i := range m.order {
		m.fill(&m.packed[i])
		if !yield(&m.out) {
			break
		}
	}
	m.release()
}

// release lets go of the caller's memory.
func (m *Merger) release() {
	for i := range m.packed[:m.n] {
		p := &m.packed[i]
		clear(p.payload)
		p.frame, p.payload = nil, p.payload[:0]
	}
	m.n, m.order, m.headers = 0, m.order[:0], m.headers[:0]
	m.seg.head, m.out.header, m.out.payload = nil, nil, nil
}

// Stats counts what the Merger did.
func (m *Merger) Stats() Stats {
	s := m.stats
	s.finish(m.held)
	return s
}
