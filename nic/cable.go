package nic

import (
	"fmt"
	"sync"
)

// An End is one end of a cable: frames sent into it come out of the other one
// in order. It is the Wire of a device plugged in there. Send may be called by
// any goroutine, Next by one.
type End struct {
	in, out *pipe
}

// NewCable makes a cable that holds up to so many frames in each direction and
// returns its ends.
func NewCable(frames int) (a, b *End, err error) {
	if frames < 1 {
		return nil, nil, fmt.Errorf("nic: a cable for %d frames, want at least 1", frames)
	}
	ab, ba := newPipe(frames), newPipe(frames)
	return &End{in: ba, out: ab}, &End{in: ab, out: ba}, nil
}

// Send copies the frame. It reports false, and sends nothing, while the cable
// is full.
func (e *End) Send(f Frame) bool { return e.out.send(f) }

// Next lends the next frame until it is called again. A frame is there as soon
// as it was sent.
func (e *End) Next(_ int64, f *Frame) bool { return e.in.take(f) }

// A pipe is one direction of a cable: a ring of frames whose memory is used
// again. It has a slot more than it holds frames, for the one that is lent.
type pipe struct {
	mu         sync.Mutex
	slots      []Frame
	sent, took int // run freely
}

func newPipe(n int) *pipe { return &pipe{slots: make([]Frame, n+1)} }

func (p *pipe) send(f Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent-p.took == len(p.slots)-1 {
		return false
	}
	s := &p.slots[p.sent%len(p.slots)]
	s.Data, s.Link, s.Time = append(s.Data[:0], f.Data...), f.Link, f.Time
	p.sent++
	return true
}

func (p *pipe) take(f *Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took == p.sent {
		return false
	}
	*f = p.slots[p.took%len(p.slots)]
	p.took++
	return true
}
