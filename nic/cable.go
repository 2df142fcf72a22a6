package nic

import (
	"fmt"
	"math/bits"
	"sync"
)

// An End is one end of a cable: frames sent into it come out of the other one
// in order. It is the Wire of a device plugged in there. Send may be called by
// any goroutine, Next by one.
type End struct {
	in, out *pipe
}

// NewCable makes a cable that holds up to so many frames in each direction and
// returns its ends. Both ends at one device (Plug, PlugOut) are a loopback.
func NewCable(frames int) (a, b *End, err error) {
	if frames < 1 {
		return nil, nil, fmt.Errorf("nic: a cable for %d frames, want at least 1", frames)
	}
	ab, ba := newPipe(frames), newPipe(frames)
	return &End{in: ba, out: ab}, &End{in: ab, out: ba}, nil
}

// Send copies the frame. It reports false, and sends nothing, while the cable
// is full.
func (e *End) Send(f Frame) bool {
	s := e.out.reserve(len(f.Data))
	if s == nil {
		return false
	}
	copy(s.Data, f.Data)
	s.Link, s.Time = f.Link, f.Time
	e.out.commit()
	return true
}

// Next lends the next frame until it is called again. A frame is there as soon
// as it was sent.
func (e *End) Next(_ int64, f *Frame) bool { return e.in.take(f) }

// A pipe is one direction of a cable: a ring of frames whose memory is used
// again. It has a slot more than it holds frames, at least, for the one that is
// lent.
type pipe struct {
	mu         sync.Mutex
	slots      []Frame // a power of two
	limit      uint    // frames that it holds
	sent, took uint    // run freely
}

func newPipe(n int) *pipe {
	return &pipe{slots: make([]Frame, 1<<bits.Len(uint(n))), limit: uint(n)}
}

// reserve lends the slot of the next frame, of n bytes that are to be written,
// and keeps others out until commit or cancel; nil while the pipe is full.
func (p *pipe) reserve(n int) *Frame {
	p.mu.Lock()
	if p.sent-p.took == p.limit {
		p.mu.Unlock()
		return nil
	}
	s := &p.slots[p.sent&uint(len(p.slots)-1)]
	if cap(s.Data) < n {
		s.Data = make([]byte, max(n, slotBytes))
	}
	s.Data = s.Data[:n]
	return s
}

// slotBytes is what the memory of a slot begins with.
const slotBytes = 2048

// commit sends the frame in the slot.
func (p *pipe) commit() {
	p.sent++
	p.mu.Unlock()
}

// cancel sends nothing.
func (p *pipe) cancel() { p.mu.Unlock() }

func (p *pipe) take(f *Frame) bool {
	p.mu.Lock()
	ok := p.took != p.sent
	if ok {
		*f = p.slots[p.took&uint(len(p.slots)-1)]
		p.took++
	}
	p.mu.Unlock()
	return ok
}
