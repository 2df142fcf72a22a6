package rr

import (
	"fmt"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
)

// A Flood is a connection that sends small messages and gets no answer.
type Flood struct {
	Host
	payload []byte
}

// NewFlood makes a flood of frames of so many bytes, behind headers without
// options. The caller closes it.
func NewFlood(frameBytes int, m Memory, seed uint64) (*Flood, error) {
	n := frameBytes - PlainBytes
	if n < 1 || frameBytes > header.EthernetBytes+1500 {
		return nil, fmt.Errorf("rr: a flood of %d bytes a frame, want %d to 1514",
			frameBytes, PlainBytes+1)
	}
	f := &Flood{payload: make([]byte, n)}
	pattern(f.payload)
	return f, f.open(m, 1, PlainBytes, n, seed)
}

// Fill puts n segments at the end of out, which needs room for them; the caller
// owns those.
func (f *Flood) Fill(out *packet.Batch, n int) {
	for range n {
		f.send(0, f.payload, out)
	}
}

// A Sink takes a flood from a cable and checks it.
type Sink struct {
	end     *nic.End
	payload []byte
	next    uint32
	id      uint16
	Tally
}

// NewSink takes what a flood of the same seed sends.
func NewSink(e *nic.End, frameBytes int, seed uint64) *Sink {
	s := &Sink{end: e, payload: make([]byte, frameBytes-PlainBytes), next: initial(seed, 0, 1)}
	pattern(s.payload)
	return s
}

// Drain takes all frames that have arrived.
func (s *Sink) Drain() {
	start := cpu.TSC()
	for f := (nic.Frame{}); s.end.Next(0, &f); {
		if what := s.check(f.Data); what != "" {
			s.fail(0, what)
			continue
		}
		s.took(f.Data)
		s.next += uint32(len(s.payload))
		s.id++
	}
	s.Ticks += cpu.TSC() - start
}

func (s *Sink) check(b []byte) fault {
	if f := inspect(b, PlainBytes, s.payload); f != "" {
		return f
	}
	to := clientEnd(0)
	switch {
	case !between(b, &serverEnd, &to):
		return badHeader
	case header.TCPAt(b, tcp).Seq() != s.next || header.IPv4At(b, ip).ID() != s.id:
		return badSequence
	case b[PlainBytes] != mark(0, uint32(s.Taken)):
		return badPayload
	}
	return ""
}
