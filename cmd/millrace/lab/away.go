package lab

import (
	"runtime"
	"sync/atomic"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/rx"
)

// away is an application on a CPU of its own. It is lent batches through two
// slots: while it works on one, the driver fills the other.
type away struct {
	app   *app
	slots [2]slot
	next  int // slot that the driver fills
	ended atomic.Bool
	gone  chan struct{}
}

// A slot belongs to the side that its state says.
type slot struct {
	socket socket
	state  atomic.Uint32
	_      cpu.CacheLinePad
}

const (
	empty uint32 = iota // the driver's
	full                // the application's
	done                // the driver's, to be freed
)

// startAway starts the application's thread, next to the driver's CPU.
func startAway(a *app, l *lane, driverCPU int) (*away, error) {
	w := &away{app: a, gone: make(chan struct{})}
	for i := range w.slots {
		w.slots[i].socket = newSocket(l.queue.Slab(), a.read)
	}
	pinned := make(chan error)
	go w.run(driverCPU, pinned)
	return w, <-pinned
}

func (w *away) run(driverCPU int, pinned chan<- error) {
	defer close(w.gone)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if driverCPU >= 0 {
		if _, undo, err := method.Pin(neighbour(driverCPU)); err == nil {
			defer undo()
		} else {
			pinned <- err
			return
		}
	}
	pinned <- nil
	for n := 0; ; n++ {
		s := &w.slots[n%len(w.slots)]
		for s.state.Load() != full {
			if w.ended.Load() {
				return
			}
		}
		w.app.take(s.socket.packets)
		s.state.Store(done)
	}
}

// neighbour is the CPU beside the driver's.
func neighbour(n int) int {
	if n == 0 {
		return 1
	}
	return n - 1
}

// turn merges what was polled and queues it in a slot, after freeing what the
// application is done with there; a slot with enough to read is handed over. It
// gives the driver's ticks since begin, less what it waited.
func (w *away) turn(l *lane, begin uint64) uint64 {
	s := &w.slots[w.next%len(w.slots)]
	waited := s.wait()
	s.free(l.queue)
	l.merge.Receive(l.in, l.out)
	l.merge.Flush(l.out)
	if s.socket.add(l.out) {
		s.state.Store(full)
		w.next++
	}
	return cpu.TSC() - begin - waited
}

// wait spins until the slot is the driver's.
func (s *slot) wait() (ticks uint64) {
	start := cpu.TSC()
	for s.state.Load() == full {
	}
	return cpu.TSC() - start
}

func (s *slot) free(q *rx.Queue) {
	if s.state.Load() == done {
		q.Free(s.socket.packets)
		s.state.Store(empty)
	}
}

// rest hands over what is queued, waits for the application and frees all.
func (w *away) rest(l *lane) (ticks uint64) {
	s := &w.slots[w.next%len(w.slots)]
	if s.wait(); s.socket.packets.Len() > 0 && s.state.Load() == empty {
		s.socket.bytes = 0
		s.state.Store(full)
		w.next++
	}
	for i := range w.slots {
		w.slots[i].wait()
		start := cpu.TSC()
		w.slots[i].free(l.queue)
		ticks += cpu.TSC() - start
	}
	return ticks
}

func (w *away) stop() {
	w.ended.Store(true)
	<-w.gone
}
