package nic

import "github.com/millrace-net/millrace/header"

// A Frame is what a wire carries: the bytes from the link header on, without
// frame check sequence.
type Frame struct {
	Data []byte
	Link header.LinkType
	Time int64 // ns, when it arrived; 0: the device's clock
}

// A Wire gives the frames that arrive at a device.
type Wire interface {
	// Next lends the next frame until it is called again. It reports false
	// when nothing has arrived by now (ns on the device's clock).
	Next(now int64, f *Frame) bool
}

// Frames is a wire that holds all its frames. The zero value is an empty one.
type Frames struct {
	List  []Frame
	Paced bool // a frame arrives at its Time, not before; else all are there
	next  int
}

// Next lends the next frame of the list; the device only reads it.
func (w *Frames) Next(now int64, f *Frame) bool {
	if w.next >= len(w.List) || w.Paced && w.List[w.next].Time > now {
		return false
	}
	*f = w.List[w.next]
	w.next++
	return true
}

// Left is the number of frames not taken yet.
func (w *Frames) Left() int { return len(w.List) - w.next }

// Rewind starts over with the first frame.
func (w *Frames) Rewind() { w.next = 0 }
