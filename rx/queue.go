package rx

import (
	"math"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// A Queue is one receive queue. It belongs to the goroutine that polls it;
// other goroutines may only call Stats.
type Queue struct {
	// Hot: touched for every packet.
	cc       uint32 // completions consumed, runs freely
	cq       *desc.CQ
	accept   func(*Queue, *desc.CQE, desc.OwnWord, *packet.Batch)
	consumed []uint32        // striding: strides used of WQE i; all of them: it is not posted
	pages    []pagepool.Slot // Plan.GroupPages for each group of WQEs
	slab     *packet.Slab
	pool     *pagepool.Pool
	dom      *dma.Domain
	arena
	geometry
	metadata
	prefetch Prefetch
	second   uint32 // bytes to the second line of headers, 0 if there is none
	room     uint32 // from the start of a stride to the SharedInfo
	blind    bool   // the program drops without a look
	count    counters
	xdp      *stage // nil without a program

	// Warm: once a poll, or once a WQE.
	harvest func(*Queue, *packet.Batch, int) int
	refill  func(q *Queue, used uint32)
	session session
	posted  uint32 // WQEs that the device has
	counter uint32 // WQEs ever posted; runs freely
	head    uint16 // striding: the entry to be posted next
	tail    uint16 // striding: the last entry of the free chain
	current uint16 // striding: the entry that the device fills
	fault   bool   // restart the queue
	faultAt uint32 // cc when fault was set
	layout  []segment
	scratch []mem.Ref

	// Cold: setup, close, errors.
	plan   Plan
	cfg    Config
	rq     *desc.RQ
	region *mem.Region // nil when it was lent
	filler mem.Ref     // behind the pages of every striding WQE

	published published
}

// geometry is what the builders need of the Plan.
type geometry struct {
	strideShift uint8 // linear cyclic: of a buffer
	pageShift   uint8
	groupShift  uint8 // cyclic: log2 of Plan.Group
	headroom    uint32
	maxFrame    uint32
	shortMax    uint32 // striding: most bytes of a frame in one stride
	pageBytes   uint32
	strides     uint32 // in a WQE
	groupPages  uint32
	mttsPerWQE  uint32
	wqeMask     uint32 // WQEs less one
	distance    uint32 // strides to prefetch ahead; behind every WQE when off
	pairMask    uint32 // 1: two strides are prefetched at a time
	pairBytes   uint32 // from one to the other, if they are of one page
	pairPages   bool   // they are of two, and no SharedInfo is asked for
}

// metadata is what the builders take from completions.
type metadata struct {
	queue     uint16
	lro       bool
	parsed    bool // header copy
	hash      bool
	hashTypes *[256]packet.HashType // by what the completion says; without hash all none
	sum       bool                  // the device's sum over all bytes
	verdict   bool                  // the device's verdict
	trusting  bool                  // the verdict and not the sum
	stampMask int64                 // 0 or all ones
}

// A segment is where a data segment of a cyclic group lies: page of the group
// and offset in it.
type segment struct{ page, off uint32 }

func geometryOf(p *Plan, skipShared bool) geometry {
	g := geometry{
		pageShift: log2(p.PageBytes), groupShift: log2(p.Group),
		headroom: uint32(p.Headroom), maxFrame: uint32(p.MaxFrame),
		pageBytes: uint32(p.PageBytes), strides: uint32(p.Strides),
		groupPages: uint32(p.GroupPages), mttsPerWQE: uint32(p.MTTsPerWQE),
		wqeMask:  uint32(p.WQEs - 1),
		distance: math.MaxUint32 / 2,
	}
	if p.Type == desc.Cyclic && p.Linear {
		g.strideShift = log2(p.Frags[0].Stride)
	}
	if p.Type == desc.Striding {
		g.strideShift = log2(p.StrideBytes)
		g.shortMax = uint32(min(p.MaxFrame, p.StrideBytes))
	}
	switch {
	case p.OwnStride:
		g.distance = 0
	case p.Distance > 0 && p.Linear:
		g.distance = uint32(p.Distance)
		if p.StrideBytes < p.PageBytes {
			g.pairMask, g.pairBytes = 1, uint32(p.StrideBytes)
		} else if skipShared {
			g.pairMask, g.pairPages = 1, true
		}
	case p.Distance > 0:
		g.distance = 0
	}
	return g
}

func metadataOf(c Config) metadata {
	m := metadata{
		queue: uint16(c.Queue), lro: c.Offloads.LRO, parsed: c.HeaderCopy == Parsed,
		hash: c.Offloads.Compression == desc.CompressNone,
		// A program may have rewritten what the sum covers (facts/mlx5e.md 3.11).
		sum:     c.Offloads.Checksum == ChecksumComplete && c.XDP.Program == nil,
		verdict: c.Offloads.Checksum != ChecksumOff,
	}
	m.trusting = m.verdict && !m.sum
	m.hashTypes = new([256]packet.HashType)
	if m.hash {
		m.hashTypes = &hashTypes
	}
	if c.Offloads.Timestamps {
		m.stampMask = -1
	}
	return m
}
