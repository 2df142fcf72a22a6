package desc

import (
	"sync"
	"sync/atomic"
)

// State is the state of a queue in the device (facts/mlx5e.md 1.10).
type State uint32

const (
	Reset State = 0
	Ready State = 1
	Error State = 3
)

// lifecycle is the state of a work queue, and who may touch its memory.
type lifecycle struct {
	state atomic.Uint32
	reset atomic.Uint32 // times the queue was reset; the device starts over
	work  sync.Mutex    // held by the device while it works on the queue
}

// Enter is for the device: until Leave the queue cannot be reset, so its
// memory stays what it is. The device calls it once a Step, not once a frame.
func (l *lifecycle) Enter() { l.work.Lock() }

// Leave ends what Enter began.
func (l *lifecycle) Leave() { l.work.Unlock() }

// State is the queue's state. The device sets Error, the driver the others.
func (l *lifecycle) State() State { return State(l.state.Load()) }

// Resets counts the resets; a change tells the device to forget its place.
func (l *lifecycle) Resets() uint32 { return l.reset.Load() }

// Modify takes the queue from one state to another. It reports false, and
// does nothing, when the queue is not in from, or the step is not one of
// Reset to Ready, Ready to Error, Error to Reset. A step to Reset waits until
// the device has left the queue, and from then on the device touches nothing
// of it; so the goroutine that is between Enter and Leave must not take it.
func (l *lifecycle) Modify(from, to State) bool {
	switch [2]State{from, to} {
	case [2]State{Reset, Ready}, [2]State{Ready, Error}, [2]State{Error, Reset}:
	default:
		return false
	}
	if to == Reset {
		l.work.Lock()
		defer l.work.Unlock()
	}
	if !l.state.CompareAndSwap(uint32(from), uint32(to)) {
		return false
	}
	if to == Reset {
		l.reset.Add(1)
	}
	return true
}
