package desc

import "fmt"

// Compression is the layout of compressed completions (facts/mlx5e.md 2.4,
// 2.5).
type Compression uint8

const (
	CompressNone Compression = iota
	CompressBasic
	CompressEnhanced
)

// A CQ is a completion queue: the memory and the words that driver and device
// share. The device writes entries, the driver the doorbell.
type CQ struct {
	Entries     []CQE // a power of two, 64-byte aligned
	LogEntries  uint8
	Compression Compression
	MiniFormat  MiniFormat // what a mini CQE carries
	Consumer    Doorbell   // the driver's counter, 24 bits significant, once a poll

	events
}

const maxLogCQ = 22

// NewCQ makes a completion queue of 1<<log entries that nobody has written.
func NewCQ(log int, c Compression, f MiniFormat) (*CQ, error) {
	if log < 1 || log > maxLogCQ {
		return nil, fmt.Errorf("desc: a CQ of 2^%d entries, want 2^1 to 2^%d", log, maxLogCQ)
	}
	if c > CompressEnhanced || f > MiniL3L4Stride {
		return nil, fmt.Errorf("desc: compression %d with mini format %d is unknown", c, f)
	}
	q := &CQ{
		Entries: alignedCQEs(1 << log), LogEntries: uint8(log),
		Compression: c, MiniFormat: f,
	}
	q.Reinit()
	return q, q.Moderate(DefaultModeration)
}

// Reinit forgets all completions; both sides start at counter 0 again, and no
// event is asked for. Its work queue must be in state Reset.
func (q *CQ) Reinit() {
	for i := range q.Entries {
		q.Entries[i].Publish(initialOwn)
	}
	q.Consumer.Ring(0)
	q.disarm()
}

// At is the entry for a counter that runs freely.
func (q *CQ) At(counter uint32) *CQE { return &q.Entries[counter&uint32(len(q.Entries)-1)] }

// Lap counts how often the ring was passed; its lowest bit is the owner bit of
// that lap, its lowest 8 the validity.
func (q *CQ) Lap(counter uint32) uint32 { return counter >> q.LogEntries }

// Consumed rewrites the ownership bytes of n slots from counter on after a
// session of CompressBasic, before Consumer is rung: every slot gets just the
// owner bit of the lap it was consumed in, so behind the end of the ring the
// other one. The device wrote only some of the slots, and mini arrays leave
// packet data in byte 63: what is not rewritten looks ready a lap later.
// With CompressEnhanced, and after plain completions, nothing is to be done.
func (q *CQ) Consumed(counter uint32, n int) {
	for range n {
		q.At(counter)[offOpOwn] = uint8(q.Lap(counter) & 1)
		counter++
	}
}
