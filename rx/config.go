package rx

import (
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
	"github.com/millrace-net/millrace/xdp"
)

// Config describes a receive queue. The zero value works.
type Config struct {
	Queue      int // number of the queue, written to every packet
	MTU        int // longest packet behind the Ethernet header, in bytes; 0 means 1500
	Entries    int // ring size in frames, a power of two, 8 to 8192; 0 means 1024
	Type       Type
	HeaderCopy HeaderCopy
	Offloads   Offloads
	Prefetch   Prefetch
	Memory     Memory
	XDP        xdp.Config // a program that sees frames first; see docs/xdp.md
}

// Type is the kind of work queue.
type Type uint8

const (
	Auto     Type = iota // striding, unless only a cyclic queue would be linear
	Striding             // WQEs of 256 KiB cut into strides
	Cyclic               // one WQE a frame
)

// HeaderCopy says how many bytes of a frame a nonlinear packet has in its
// head; the rest is fragments.
type HeaderCopy uint8

const (
	Parsed   HeaderCopy = iota // the headers, as header.Length finds them
	Fixed256                   // 256 bytes, payload or not: the baseline of the lab
)

// Offloads is what the queue asks of the device and takes from completions.
type Offloads struct {
	LRO         bool // the device merges TCP segments; striding only
	KeepVLAN    bool // tags stay in the frame
	Timestamps  bool // packets carry the device's time
	Compression desc.Compression
	Checksum    Checksum
}

// Checksum says what of the device's work is used.
type Checksum uint8

const (
	ChecksumComplete Checksum = iota // the sum over all bytes where it is good, else the verdict
	ChecksumVerdict                  // the verdict on L3 and L4 only
	ChecksumOff                      // nothing
)

// Prefetch says what a striding queue asks for ahead of time. The zero value is
// on. A nonlinear queue knows only where the next frame begins: it asks for the
// headers of that one whatever the distance.
type Prefetch struct {
	Distance   int  // strides ahead; 0 means 4, negative is off
	Own        bool // no stride ahead, but the one at hand, as mlx5e does; linear only
	SkipShared bool // not the line of the SharedInfo; with an XDP program it never is
	SkipMeta   bool // not the line of the page's Meta
}

// Memory says where packets live.
type Memory struct {
	PageBytes int               // 4096, 16384 or 65536; 0 means 4096
	Headroom  int               // before a frame: 64, 128, 192 or 256; 0 means 64, with XDP 256
	Pages     int               // of the queue's own region; 0 means twice what the ring posts
	Packets   int               // records in the slab; 0 means twice the ring, 512 at least
	Kind      mem.Kind          // of what the queue opens itself
	Region    *mem.Region       // lent; nil: the queue opens its own
	Provider  pagepool.Provider // of pages; nil means the region
}

const (
	minHeadroom = packet.HeadRoom
	maxHeadroom = xdp.HeadRoom
	minMTU      = 68
	maxEntries  = 8192
	minEntries  = 8
)

// withDefaults fills what is zero and checks each field by itself.
func (c Config) withDefaults() (Config, error) {
	fill(&c.MTU, 1500)
	fill(&c.Entries, 1024)
	fill(&c.Prefetch.Distance, 4)
	if c.XDP.Program != nil {
		c.Prefetch.SkipShared = true // a program may drop, and none is touched
		fill(&c.Memory.Headroom, xdp.HeadRoom)
		fill(&c.XDP.Send.MaxFrame, c.MTU+frameOverhead)
	}
	fill(&c.Memory.Headroom, minHeadroom)
	if c.Memory.Region != nil {
		fill(&c.Memory.PageBytes, c.Memory.Region.PageBytes())
	}
	fill(&c.Memory.PageBytes, 4096)
	fill(&c.Memory.Packets, max(512, 2*c.Entries))
	if c.Entries < minEntries || c.Entries > maxEntries || c.Entries&(c.Entries-1) != 0 {
		return c, fmt.Errorf("rx: Entries is %d, want a power of two, %d to %d",
			c.Entries, minEntries, maxEntries)
	}
	if c.MTU < minMTU || c.MTU > maxFrame-frameOverhead {
		return c, fmt.Errorf("rx: MTU is %d, want %d to %d",
			c.MTU, minMTU, maxFrame-frameOverhead)
	}
	if c.Type > Cyclic || c.HeaderCopy > Fixed256 || c.Offloads.Checksum > ChecksumOff ||
		c.Offloads.Compression > desc.CompressEnhanced {
		return c, fmt.Errorf("rx: unknown Type %d, HeaderCopy %d, Checksum %d or Compression %d",
			c.Type, c.HeaderCopy, c.Offloads.Checksum, c.Offloads.Compression)
	}
	if c.Queue < 0 || c.Queue > 0xffff {
		return c, fmt.Errorf("rx: Queue is %d, want 0 to 65535", c.Queue)
	}
	if c.Prefetch.Distance > maxDistance {
		return c, fmt.Errorf("rx: Prefetch.Distance is %d, want at most %d strides",
			c.Prefetch.Distance, maxDistance)
	}
	return c, c.Memory.check()
}

func fill(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}

func (m Memory) check() error {
	switch m.PageBytes {
	case 4096, 16384, 65536:
	default:
		return fmt.Errorf("rx: PageBytes is %d, want 4096, 16384 or 65536", m.PageBytes)
	}
	if m.Region != nil && m.Region.PageBytes() != m.PageBytes {
		return fmt.Errorf("rx: PageBytes is %d, but the pages of Region have %d; leave PageBytes 0",
			m.PageBytes, m.Region.PageBytes())
	}
	if m.Headroom < minHeadroom || m.Headroom > maxHeadroom || m.Headroom%64 != 0 {
		return fmt.Errorf("rx: Headroom is %d, want a multiple of 64, %d to %d",
			m.Headroom, minHeadroom, maxHeadroom)
	}
	if m.Packets < 1 {
		return fmt.Errorf("rx: Packets is %d, want at least 1", m.Packets)
	}
	return nil
}

// exclusions refuses what cannot be had together (facts/mlx5e.md 12, bug 63).
func (c Config) exclusions() error {
	o := c.Offloads
	switch {
	case o.LRO && c.Type == Cyclic:
		return fmt.Errorf("rx: LRO needs a striding queue: turn LRO off or leave Type Auto")
	case o.LRO && c.XDP.Program != nil:
		return fmt.Errorf("rx: LRO and an XDP program exclude each other: turn one of them off")
	case c.XDP.Program != nil && c.Memory.Headroom != xdp.HeadRoom:
		return fmt.Errorf("rx: Headroom is %d, but an XDP program is promised %d bytes: "+
			"leave Headroom 0", c.Memory.Headroom, xdp.HeadRoom)
	case o.LRO && c.Memory.Headroom > minHeadroom:
		return fmt.Errorf("rx: LRO excludes XDP's headroom (%d bytes, a nonlinear packet has %d): "+
			"turn LRO off or leave Headroom 0", c.Memory.Headroom, minHeadroom)
	case o.Compression != desc.CompressNone && o.Timestamps:
		return fmt.Errorf("rx: compressed completions carry no Timestamps: turn one of them off")
	}
	return nil
}
