package desc

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// WQType is how the entries of a work queue follow each other
// (facts/mlx5e.md 1.1).
type WQType uint8

const (
	Cyclic   WQType = 1 // one after the other; data segments a packet
	Striding WQType = 2 // linked list; each WQE is cut into strides
)

// State is the state of a queue in the device (facts/mlx5e.md 1.10).
type State uint32

const (
	Reset State = 0
	Ready State = 1
	Error State = 3
)

// A Doorbell is a doorbell record: one aligned word, written by one side and
// read by the other, big-endian as the device has it. It stands a cache line
// apart from the fields around it, which the other side reads.
type Doorbell struct {
	_    [64]byte
	word atomic.Uint32
	_    [60]byte
}

// Ring stores the counter; all writes before it are seen by who loads it.
func (d *Doorbell) Ring(counter uint32) { d.word.Store(bits.ReverseBytes32(counter)) }

// Load is the counter last rung.
func (d *Doorbell) Load() uint32 { return bits.ReverseBytes32(d.word.Load()) }

// An RQ is a receive queue: what the driver would tell the device by firmware
// command, and the memory that both use. NewStridingRQ and NewCyclicRQ lay it
// out; fields without a note are fixed from then on.
type RQ struct {
	Type     WQType
	CQ       *CQ
	Producer Doorbell // WQEs posted, 16 bits significant

	// Striding: List[i] is the next index and a data segment written once. The
	// driver changes the next index of WQEs that are not posted.
	LogStrideBytes uint8 // 6 to 13
	LogStrides     uint8 // strides in a WQE
	LogWQEs        uint8 // entries in the linked list, or cyclic WQEs
	LogPageBytes   uint8
	List           []StridingWQE
	MTT            []uint64 // entry i*MTTsPerWQE+k is page k of WQE i; the driver writes
	MTTsPerWQE     int      // pages and filler entries, a multiple of 8
	PagesPerWQE    int

	// Cyclic: 1<<LogWQEs entries of SegsPerWQE data segments; the driver
	// writes those of WQEs that are not posted.
	Segments   []DataSegment
	SegsPerWQE int

	HeadRoom int  // bytes the device leaves free in front of a frame (linear)
	KeepVLAN bool // vsd: do not strip tags
	KeepFCS  bool // scatter_fcs

	state atomic.Uint32
	reset atomic.Uint32 // times the queue was reset; the device starts over
	work  sync.Mutex    // held by the device while it works on the queue
}

// Enter is for the device: until Leave the queue cannot be reset, so its
// memory stays what it is. The device calls it once a Step, not once a frame.
func (q *RQ) Enter() { q.work.Lock() }

// Leave ends what Enter began.
func (q *RQ) Leave() { q.work.Unlock() }

// State is the queue's state. The device sets Error, the driver the others.
func (q *RQ) State() State { return State(q.state.Load()) }

// Resets counts the resets; a change tells the device to forget its place.
func (q *RQ) Resets() uint32 { return q.reset.Load() }

// Modify takes the queue from one state to another. It reports false, and
// does nothing, when the queue is not in from, or the step is not one of
// Reset to Ready, Ready to Error, Error to Reset. A step to Reset waits until
// the device has left the queue, and from then on the device touches nothing
// of it; so the goroutine that is between Enter and Leave must not take it.
func (q *RQ) Modify(from, to State) bool {
	switch [2]State{from, to} {
	case [2]State{Reset, Ready}, [2]State{Ready, Error}, [2]State{Error, Reset}:
	default:
		return false
	}
	if to == Reset {
		q.work.Lock()
		defer q.work.Unlock()
	}
	if !q.state.CompareAndSwap(uint32(from), uint32(to)) {
		return false
	}
	if to == Reset {
		q.reset.Add(1)
	}
	return true
}
