package tx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/sendring"
	"github.com/millrace-net/millrace/packet"
)

// A Queue is one send queue. It belongs to the goroutine that polls it; other
// goroutines may only call Stats.
//
// Budget: 40 ns for a packet of 64 bytes that is inlined or premapped, with its
// share of Post, Flush and Reap of 32, in passthrough; 60 ns for one of 1448
// bytes in a head and a fragment that are mapped; 400 ns for one of 64 KiB that
// the device cuts. What was measured is in docs/tx.md.
type Queue struct {
	// Hot: touched for every packet.
	ring    sendring.Ring
	session session
	wqes    []position // by the slot a WQE begins at: where it ends
	head    position   // what was posted
	tail    position   // what is done with
	maps    []uint64   // I/O addresses of mappings
	held    []uint32   // packets that the device has, as words: source and index
	bufs    buffers
	mapper  *dma.Mapper
	dom     *dma.Domain
	from    *source // of the batch that is posted
	limits  limits
	copying Copybreak // in force
	number  uint32    // of the queue, in every WQE
	count   counters

	// Warm: once a batch, or once a packet that is cut.
	stopped bool
	closed  bool
	cutter  cutter
	linear  linear
	parse   header.ParseOptions
	sources []source

	// Cold: setup, close, errors.
	cfg      Config
	asked    Copybreak
	why      string // offloads that were asked for and are not in force
	measured string // how auto was decided

	published published
}

// A position is how far the lists of a queue have come. All fields run freely
// and are never reset, but for bufs. What a WQE holds lies between the position of the one
// before and its own, so that whatever ends the life of a WQE, the lists cannot
// get out of step with the ring, or with each other (facts/mlx5e.md 12, bug 7).
type position struct {
	bytes   uint64 // on the wire
	packets uint32 // that end with the WQE
	maps    uint32
	held    uint32
	bufs    uint32 // premapped buffers; 0 again whenever nothing is in flight
	pages   uint32 // of linearized packets
}

// limits decide which way a packet takes and when the queue is full.
type limits struct {
	room      uint32 // blocks that stay free for what comes next (stop room)
	bufRoom   uint32 // premapped buffers that stay free
	bytes     uint64 // that may be in flight
	frame     uint32 // bytes in an untagged frame
	simple    uint32 // lengths of simple packets, from the shortest frame on; 0: none are
	offloads  Offload
	minInline desc.MinInline
	kept      bool
	pieces    bool // scattered packets may be posted without a detour
}

// Most packets, and mappings, a block can hold: each segment names a piece
// (facts/mlx5e.md 7.4; 12, bug 28).
const perBlock = desc.SegmentsPerBlock

// A source is a slab that packets come from.
type source struct {
	slab *packet.Slab
	free func(*packet.Batch)
	home *packet.Batch // on its way to free
	tag  uint32        // number of the source, in the upper bits of a word of held
}

const (
	indexBits  = 25 // of a packet in its slab
	maxSources = 1 << (32 - indexBits)
)

// send has packet i go home. There is room for all packets of the slab.
func (s *source) send(i uint32) { s.home.Add(i) }

// deliver hands over what was collected.
func (s *source) deliver() {
	if s.home.Len() > 0 {
		s.free(s.home)
		s.home.Reset()
	}
}

// full says that what comes next may not fit.
func (q *Queue) full() bool {
	return q.ring.Free() < q.limits.room ||
		q.bufs.free(q.head.bufs-q.tail.bufs) < q.limits.bufRoom ||
		q.head.bytes-q.tail.bytes >= q.limits.bytes || q.linear.short()
}
