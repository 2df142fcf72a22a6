package desc

import (
	"fmt"
	"math/bits"
)

// Limits of receive queues (facts/mlx5e.md 1.2).
const (
	MinLogStrides = 3
	MaxLogStrides = 16
	MaxLogWQE     = 18 // bytes in a striding WQE: 256 KiB
	MinLogMPW     = 2  // one entry of the linked list stays free
	MaxLogRQ      = 13
	MaxMTTs       = 65532 * 2 // translation entries of one key
)

// A StridingConfig describes a striding queue. Logs are to the base of 2.
type StridingConfig struct {
	LogStrideBytes int
	LogStrides     int // strides in a WQE
	LogWQEs        int
	PageBytes      int // a power of two, 4096 or more
	HeadRoom       int // linear: bytes left free in front of each frame
	KeepVLAN       bool
	KeepFCS        bool
}

// NewStridingRQ lays out a striding queue: the linked list in order, all data
// segments, and a translation without access. The driver fills in the
// translation of a WQE before it posts it, and that of the filler entries
// behind the pages of each WQE once.
func NewStridingRQ(cfg StridingConfig, cq *CQ) (*RQ, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	wqeBytes := 1 << (cfg.LogStrideBytes + cfg.LogStrides)
	pages := max(1, wqeBytes/cfg.PageBytes)
	q := &RQ{
		Type: Striding, CQ: cq,
		LogStrideBytes: uint8(cfg.LogStrideBytes),
		LogStrides:     uint8(cfg.LogStrides),
		LogWQEs:        uint8(cfg.LogWQEs),
		LogPageBytes:   uint8(bits.TrailingZeros(uint(cfg.PageBytes))),
		List:           make([]StridingWQE, 1<<cfg.LogWQEs),
		PagesPerWQE:    pages,
		MTTsPerWQE:     (pages + FillerPerWQE + MTTAlign - 1) &^ (MTTAlign - 1),
		HeadRoom:       cfg.HeadRoom,
		KeepVLAN:       cfg.KeepVLAN,
		KeepFCS:        cfg.KeepFCS,
	}
	if n := q.MTTsPerWQE << cfg.LogWQEs; n > MaxMTTs {
		return nil, fmt.Errorf("desc: %d translation entries, %d for each of %d WQEs, "+
			"above the limit of %d; use larger pages or fewer WQEs",
			n, q.MTTsPerWQE, len(q.List), MaxMTTs)
	}
	q.MTT = make([]uint64, q.MTTsPerWQE<<cfg.LogWQEs)
	q.Reinit()
	return q, nil
}

// Reinit lays the queue out afresh, and its CQ, as after the constructor; the
// translation stays. Both sides start at counter 0 and the first WQE again.
// The queue must be in state Reset.
func (q *RQ) Reinit() {
	for i := range q.List {
		q.List[i].SetNext(uint16(i+1) & uint16(len(q.List)-1))
		q.List[i].Data().Set(1<<(q.LogStrideBytes+q.LogStrides), MemoryKey,
			q.WQEAddr(i)+uint64(q.HeadRoom))
	}
	for i := range q.Segments {
		q.Segments[i].Set(0, TerminateKey, 0)
	}
	q.Producer.Ring(0)
	q.CQ.Reinit()
}

// MemoryKey names, in data segments, the memory that a device reaches: of a
// striding queue what its translation names, else the domain. The model has one
// of each, so the value only has to differ from TerminateKey.
const MemoryKey = 0x200

// WQEAddr is the address of WQE i in the space that MTT translates: of its
// first page, without HeadRoom. It counts filler entries, unlike the page
// index of the driver.
func (q *RQ) WQEAddr(i int) uint64 { return uint64(i*q.MTTsPerWQE) << q.LogPageBytes }

func (cfg StridingConfig) check() error {
	for _, f := range []struct {
		name          string
		value, lo, hi int
	}{
		{"LogStrideBytes", cfg.LogStrideBytes, MinStrideShift, MaxStrideShift},
		{"LogStrides", cfg.LogStrides, MinLogStrides, MaxLogStrides},
		{"LogStrideBytes+LogStrides", cfg.LogStrideBytes + cfg.LogStrides, 0, MaxLogWQE},
		{"LogWQEs", cfg.LogWQEs, MinLogMPW, MaxLogRQ},
	} {
		if err := within(f.name, f.value, f.lo, f.hi); err != nil {
			return err
		}
	}
	if cfg.PageBytes < 4096 || cfg.PageBytes&(cfg.PageBytes-1) != 0 {
		return fmt.Errorf("desc: PageBytes is %d, want a power of two from 4096 on", cfg.PageBytes)
	}
	return within("HeadRoom", cfg.HeadRoom, 0, 1<<cfg.LogStrideBytes-1)
}

// A CyclicConfig describes a cyclic queue.
type CyclicConfig struct {
	LogWQEs    int // log2 of the WQEs
	SegsPerWQE int // data segments of a WQE: 1, 2 or 4
	KeepVLAN   bool
	KeepFCS    bool
}

// NewCyclicRQ lays out a cyclic queue, its segments terminated. The driver
// writes the segments of a WQE before it posts it.
func NewCyclicRQ(cfg CyclicConfig, cq *CQ) (*RQ, error) {
	if err := within("LogWQEs", cfg.LogWQEs, 1, MaxLogRQ); err != nil {
		return nil, err
	}
	n := cfg.SegsPerWQE
	if n < 1 || n > MaxSegsPerWQE || n&(n-1) != 0 {
		return nil, fmt.Errorf("desc: SegsPerWQE is %d, want a power of two, 1 to %d",
			n, MaxSegsPerWQE)
	}
	q := &RQ{
		Type: Cyclic, CQ: cq, LogWQEs: uint8(cfg.LogWQEs), SegsPerWQE: n,
		Segments: make([]DataSegment, n<<cfg.LogWQEs),
		KeepVLAN: cfg.KeepVLAN, KeepFCS: cfg.KeepFCS,
	}
	q.Reinit()
	return q, nil
}

func within(name string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("desc: %s is %d, want %d to %d", name, v, lo, hi)
	}
	return nil
}
