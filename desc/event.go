package desc

import "sync/atomic"

// Moderation says how long the device gathers completions of an armed CQ
// before it raises the event: until there are Frames of them, or Usecs have
// passed. With 0 in either it raises the event for the first one (facts/mlx5e.md
// 1.10, 7.6). ethtool calls them rx-usecs, rx-frames, tx-usecs, tx-frames.
type Moderation struct {
	Usecs   int  // 0 to 4095, 12 bits
	Frames  int  // completions, 0 to 65535
	FromCQE bool // the time begins anew with each completion, not with the last event
}

// DefaultModeration is that of a new CQ: mlx5e's for both directions.
var DefaultModeration = Moderation{Usecs: 16, Frames: 32}

const (
	maxUsecs  = 1<<12 - 1
	maxFrames = 1<<16 - 1
)

// events is what driver and device share about the events of a CQ.
type events struct {
	armed      Doorbell      // sequence << 28 | the consumer counter: the driver writes
	raised     atomic.Uint32 // events so far: the device writes
	moderation atomic.Uint32 // packed: the driver writes
}

// Moderate sets the moderation, from the device's next look on. Any goroutine
// may call it.
func (e *events) Moderate(m Moderation) error {
	if err := within("Usecs of the moderation", m.Usecs, 0, maxUsecs); err != nil {
		return err
	}
	if err := within("Frames of the moderation", m.Frames, 0, maxFrames); err != nil {
		return err
	}
	v := uint32(m.Frames)<<12 | uint32(m.Usecs)
	if m.FromCQE {
		v |= fromCQE
	}
	e.moderation.Store(v)
	return nil
}

const fromCQE = 1 << 28

// Moderation is what is set.
func (e *events) Moderation() Moderation {
	v := e.moderation.Load()
	return Moderation{
		Usecs: int(v & maxUsecs), Frames: int(v >> 12 & maxFrames), FromCQE: v&fromCQE != 0,
	}
}

// Arm asks for one event; seen is the counter of the first completion that the
// driver has not looked for (facts/mlx5e.md 2.3). If that one is there already
// the event comes at once, so that none is lost between the last look and Arm.
func (e *events) Arm(seen uint32) {
	e.armed.Ring(e.sequence()<<28 | seen&counterMask)
}

// Fired says that no event is asked for: the last one was raised.
func (e *events) Fired() bool { return e.armed.Load()>>28&3 != e.sequence() }

// Events counts the events raised, with wrap.
func (e *events) Events() uint32 { return e.raised.Load() }

// Armed is for the device: whether the driver waits for an event, and the
// completion it has not looked for, of which 24 bits are known.
func (e *events) Armed() (seen uint32, ok bool) {
	w := e.armed.Load()
	return w & counterMask, w>>28&3 == e.sequence()
}

// Raise is for the device: it raises the event, which disarms the CQ.
func (e *events) Raise() { e.raised.Add(1) }

// disarm forgets what was asked for, without an event.
func (e *events) disarm() { e.armed.Ring(e.raised.Load() & 3 << 28) }

// sequence of the arming that waits for the next event, 2 bits (arm_sn). That
// of memory that was never written is past.
func (e *events) sequence() uint32 { return (e.raised.Load() + 1) & 3 }

const counterMask = 1<<24 - 1
