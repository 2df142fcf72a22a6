package desc

import (
	"math/bits"
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
// read by the other, big-endian as the device has it.
type Doorbell struct{ word atomic.Uint32 }

// Ring stores the counter; all writes before it are seen by who loads it.
func (d *Doorbell) Ring(counter uint32) { d.word.Store(bits.ReverseBytes32(counter)) }

// Load is the counter last rung.
func (d *Doorbell) Load() uint32 { return bits.ReverseBytes32(d.word.Load()) }

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
	Entries     []CQE    // a power of two
	Consumer    Doorbell // the driver's counter, 24 bits significant, once a poll
	Compression Compression
	MiniFormat  MiniFormat // what a mini CQE carries
}

// An RQ is a receive queue: what the driver would tell the device by firmware
// command, and the memory that both use. Fields without a note are fixed when
// the queue is made.
type RQ struct {
	Type     WQType
	CQ       *CQ
	Producer Doorbell // WQEs posted, 16 bits significant

	// Striding: WQE i is Next[i] and a data segment that was written once.
	LogStrideBytes uint8 // 6 to 13
	LogStrides     uint8 // strides in a WQE
	LogWQEs        uint8 // entries in the linked list
	List           []StridingWQE
	MTT            []uint64 // translation; entry i*MTTsPerWQE+k is page k of WQE i; the driver writes
	MTTsPerWQE     int      // pages a WQE and filler entries, a multiple of 8
	LogPageBytes   uint8

	// Cyclic: 1<<LogWQEs entries of SegsPerWQE data segments.
	Segments   []DataSegment
	SegsPerWQE int

	HeadRoom int  // bytes the device leaves free in front of a frame (linear)
	KeepVLAN bool // vsd: do not strip tags
	KeepFCS  bool // scatter_fcs

	state atomic.Uint32
	reset atomic.Uint32 // times the queue was reset; the device starts over
}

// State is the queue's state. The device sets Error, the driver the others.
func (q *RQ) State() State { return State(q.state.Load()) }

// Resets counts the resets; a change tells the device to forget its place.
func (q *RQ) Resets() uint32 { return q.reset.Load() }

// Modify takes the queue from one state to another. It reports false, and
// does nothing, when the queue is not in from, or the step is not one of
// Reset to Ready, Ready to Error, Error to Reset.
func (q *RQ) Modify(from, to State) bool {
	switch [2]State{from, to} {
	case [2]State{Reset, Ready}, [2]State{Ready, Error}, [2]State{Error, Reset}:
	default:
		return false
	}
	if !q.state.CompareAndSwap(uint32(from), uint32(to)) {
		return false
	}
	if to == Reset {
		q.reset.Add(1)
	}
	return true
}
