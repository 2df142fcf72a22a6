package gro

import "github.com/millrace-net/millrace/packet"

// An Aggregate is a packet that came out of a Merger: several merged ones, or
// one as it came. It is lent while the loop over Merger.Flush stands at it.
type Aggregate struct {
	header  []byte
	payload [][]byte
	gso     packet.GSO
	length  int
	csum    packet.CSum
}

// Header is, of merged frames, the headers of all in one: a copy of those of
// the first, rewritten, its transport checksum to be filled in. Of a single
// frame it is the whole frame.
func (a *Aggregate) Header() []byte { return a.header }

// Payload is the payload of merged frames, one slice for each, as they were
// added. Of a single frame it is empty.
func (a *Aggregate) Payload() [][]byte { return a.payload }

// GSO says how the aggregate is cut again; Size is 0 for a single frame.
func (a *Aggregate) GSO() packet.GSO { return a.gso }

// Len is the length of Header and Payload together, in bytes.
func (a *Aggregate) Len() int { return a.length }

// CSum is what is known of the checksum: CSumPartial for merged frames,
// CSumValid where it was verified, else CSumNone.
func (a *Aggregate) CSum() packet.CSum { return a.csum }

// fill makes m.out the finished packet p.
func (m *Merger) fill(p *packed) {
	a := &m.out
	a.gso, a.csum = p.gso, p.csum
	if p.gso.Size == 0 {
		a.gso, a.header, a.payload, a.length = packet.GSO{}, p.frame, nil, len(p.frame)
		return
	}
	end := p.header + uint32(p.gso.HdrLen)
	a.header, a.payload = m.headers[p.header:end:end], p.payload
	a.length, a.csum = int(p.length), packet.CSumPartial
}
