package rx

import (
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// A Plan is the geometry that a Config leads to: what the queue will be, as
// against what was asked for. Sizes are in bytes.
type Plan struct {
	Type     desc.WQType
	Linear   bool // one buffer a packet, no copy
	MaxFrame int  // longest frame that is delivered, FCS not counted
	Headroom int

	PageBytes   int
	StrideBytes int // striding; 0 in a cyclic queue
	Strides     int // in a WQE
	MTTsPerWQE  int // translation entries of a WQE, filler entries included

	Frags    [desc.MaxSegsPerWQE]Frag // cyclic
	NumFrags int

	WQEs       int
	Group      int // WQEs that share pages; 1 in a striding queue
	GroupPages int
	Bulk       int // WQEs missing before a refill begins
	Unit       int // WQEs refilled at a time, a multiple of Group

	CQEntries int
	Pages     int  // posted when the ring is full, filler page not counted
	Distance  int  // frames that are prefetched ahead, linear: strides; 0 is off
	OwnStride bool // the stride at hand is prefetched
	Packets   int  // records and small heads in the slab
}

// Frag is one data segment of a cyclic WQE.
type Frag struct {
	Bytes  int // that the device may write
	Stride int // that they take in a page, headroom and SharedInfo included
}

// Frame lengths (facts/mlx5e.md 3.1).
const (
	fcsBytes      = 4
	hardMTU       = 14 + 4 + fcsBytes  // Ethernet header, tag, FCS
	frameOverhead = hardMTU - fcsBytes // of a frame that is delivered
	maxFrame      = desc.MaxBytes      // that a completion can report
	maxDistance   = 64
)

// Plan computes the geometry. It refuses, in one line, a Config that cannot
// be had.
func (c Config) Plan() (Plan, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Plan{}, err
	}
	return c.plan()
}

// plan is Plan of a Config whose defaults are filled in.
func (c Config) plan() (Plan, error) {
	if err := c.exclusions(); err != nil {
		return Plan{}, err
	}
	p := Plan{
		MaxFrame: c.MTU + frameOverhead, Headroom: c.Memory.Headroom,
		PageBytes: c.Memory.PageBytes, Packets: c.Memory.Packets,
	}
	var err error
	if c.striding() {
		err = p.striding(c)
	} else {
		err = p.cyclic(c)
	}
	if err == nil && !p.Linear {
		err = c.inFragments()
	}
	p.Pages = p.WQEs / max(p.Group, 1) * p.GroupPages
	return p, err
}

// inFragments refuses what wants a frame in one piece, with the limit
// (facts/mlx5e.md 6.5).
func (c Config) inFragments() error {
	switch {
	case c.XDP.Program != nil && !c.XDP.Frags:
		return fmt.Errorf("rx: MTU %d is above %d, the most for an XDP program that does not "+
			"declare Frags: lower the MTU, use larger pages, or let the program handle fragments",
			c.MTU, c.maxLinearMTU())
	case c.XDP.Program != nil && c.MTU > c.maxFragsMTU():
		return fmt.Errorf("rx: MTU %d is above %d, the most for an XDP program with Frags: "+
			"lower the MTU or use larger pages", c.MTU, c.maxFragsMTU())
	case c.XDP.Program == nil && c.Memory.Headroom != minHeadroom:
		return fmt.Errorf("rx: Headroom %d with MTU %d does not fit one buffer of a page: "+
			"lower the MTU to %d, use larger pages or leave Headroom 0",
			c.Memory.Headroom, c.MTU, c.maxLinearMTU())
	}
	return nil
}

// maxFragsMTU leaves one of the fragments that a packet can have to what the
// program made linear, and one to a first page of which a frame has one stride.
func (c Config) maxFragsMTU() int {
	return min(maxFrame, (packet.MaxFrags-2)*c.Memory.PageBytes+headerStride) - frameOverhead
}

// striding is the choice of type (facts/mlx5e.md 3.1): striding, except where
// it is nonlinear and a cyclic queue is not.
func (c Config) striding() bool {
	if c.Type != Auto {
		return c.Type == Striding
	}
	return c.Offloads.LRO || c.strideLinear() || !c.linear()
}

// linearBytes is the buffer that holds a whole frame with what stands around it.
func (c Config) linearBytes() int {
	return align(c.Memory.Headroom+c.MTU+hardMTU, 64) + packet.SharedBytes
}

func (c Config) linear() bool { return !c.Offloads.LRO && c.linearBytes() <= c.Memory.PageBytes }

func (c Config) strideLinear() bool {
	return c.linear() && powerOf2(c.linearBytes()) <= 1<<desc.MaxStrideShift
}

// maxLinearMTU is the largest MTU whose frames fit one buffer.
func (c Config) maxLinearMTU() int {
	room := c.Memory.PageBytes
	if c.striding() {
		room = min(room, 1<<desc.MaxStrideShift)
	}
	return room - packet.SharedBytes - c.Memory.Headroom - hardMTU
}

const (
	wqeBytes     = 1 << desc.MaxLogWQE
	headerStride = 256 // of a nonlinear striding queue; the most that is parsed, too
)

// striding plans WQEs of 256 KiB (facts/mlx5e.md 3.1, 3.9).
func (p *Plan) striding(c Config) error {
	p.Type, p.Linear, p.Group = desc.Striding, c.strideLinear(), 1
	p.StrideBytes = headerStride
	p.Distance = max(c.Prefetch.Distance, 0)
	frame := powerOf2(c.MTU + hardMTU) // what a frame counts for in Entries
	if p.Linear {
		p.StrideBytes = powerOf2(c.linearBytes())
		frame = p.StrideBytes
		if p.OwnStride = c.Prefetch.Own; p.OwnStride {
			p.Distance = 0
		}
	} else {
		p.Distance = min(p.Distance, 1)
	}
	p.Strides = wqeBytes / p.StrideBytes
	p.GroupPages = wqeBytes / p.PageBytes
	p.MTTsPerWQE = align(p.GroupPages+desc.FillerPerWQE, desc.MTTAlign)
	p.WQEs = max(c.Entries*frame/wqeBytes, 1<<desc.MinLogMPW)
	if p.WQEs*p.MTTsPerWQE > desc.MaxMTTs {
		return fmt.Errorf("rx: %d Entries of MTU %d take %d WQEs with %d translation "+
			"entries each, above %d in all: halve Entries or use larger pages",
			c.Entries, c.MTU, p.WQEs, p.MTTsPerWQE, desc.MaxMTTs)
	}
	p.Bulk, p.Unit = min(2, p.WQEs/2-1), 1
	p.CQEntries = p.WQEs * p.Strides
	return nil
}

// cyclic plans a WQE a frame (facts/mlx5e.md 3.2).
func (p *Plan) cyclic(c Config) error {
	p.Type, p.Linear = desc.Cyclic, c.linear()
	p.WQEs, p.CQEntries = c.Entries, c.Entries
	if p.Linear {
		p.NumFrags = 1
		p.Frags[0] = Frag{Bytes: c.MTU + hardMTU, Stride: powerOf2(c.linearBytes())}
		p.Group = min(p.PageBytes/p.Frags[0].Stride, p.WQEs)
	} else if err := p.cutFrame(c); err != nil {
		return err
	}
	p.GroupPages = p.place(func(page, off int) {})
	p.bulk()
	return nil
}

// cutFrame spreads the longest frame over segments: buffers of half a page if
// that is enough, else of a page. The last one takes what is left.
func (p *Plan) cutFrame(c Config) error {
	frame, buffer, edges := c.MTU+hardMTU, p.PageBytes/2, c.Memory.Headroom+packet.SharedBytes
	// A program grows fragments inside a page each (facts/mlx5e.md 3.2).
	whole := c.XDP.Program != nil
	if whole || frame > buffer-edges+2*buffer+p.PageBytes {
		buffer = p.PageBytes
	}
	first := buffer - edges
	if most := first + 3*buffer; buffer == p.PageBytes && frame > most {
		return fmt.Errorf("rx: MTU %d is too long for a cyclic queue with pages of %d bytes: "+
			"the limit is %d; lower the MTU, use larger pages or a striding queue",
			c.MTU, p.PageBytes, most-hardMTU)
	}
	for left := frame; left > 0; p.NumFrags++ {
		n, around := left, 0
		switch {
		case p.NumFrags == 0:
			n, around = min(left, first), edges
		case p.NumFrags < desc.MaxSegsPerWQE-1:
			n = min(left, buffer)
		}
		stride := max(powerOf2(n+around), 64)
		if whole {
			stride = p.PageBytes
		}
		p.Frags[p.NumFrags] = Frag{Bytes: n, Stride: stride}
		left -= n
	}
	// With an odd number of segments two neighbours share a page.
	p.Group = 1
	if buffer < p.PageBytes && p.NumFrags%2 == 1 {
		p.Group = 2
	}
	return nil
}

// place lays the segments of one group into pages and reports how many pages
// they take. visit sees page and offset of each, WQE by WQE.
func (p *Plan) place(visit func(page, off int)) (pages int) {
	off := p.PageBytes
	for range p.Group {
		for _, f := range p.Frags[:p.NumFrags] {
			if off+f.Stride > p.PageBytes {
				pages, off = pages+1, 0
			}
			visit(pages-1, off)
			off += f.Stride
		}
	}
	return pages
}

// bulk sizes refills so that the pages of one unit fit the pool's batch of 64.
func (p *Plan) bulk() {
	const most = 512 << 10
	sum := 0
	for _, f := range p.Frags[:p.NumFrags] {
		sum += f.Stride
	}
	if sum > p.PageBytes {
		sum = align(sum, p.PageBytes)
	}
	p.Bulk = max(ceil(min(most, p.WQEs/4*sum), sum), p.Group)
	p.Unit = align(ceil(p.Bulk, ceil(most, 64*p.PageBytes)), p.Group)
}

func align(n, to int) int { return (n + to - 1) / to * to }
func ceil(n, by int) int  { return (n + by - 1) / by }

func powerOf2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}
