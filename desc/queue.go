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

	lifecycle
}
