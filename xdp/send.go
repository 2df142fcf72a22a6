package xdp

import (
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/sendring"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// SendConfig describes a send queue. The zero value works.
type SendConfig struct {
	Blocks   int // ring size in blocks of 64 bytes, a power of two, 64 to 8192; 0 means 1024
	MaxFrame int // longest frame in bytes, 14 to 65535; 0 means 1518 (MTU 1500 with a tag)
	Number   int // of the queue, 24 bits
}

const (
	defaultMaxFrame = 1518
	maxFrame        = 65535
)

// A SendQueue is the driver side of a send queue of pages that are mapped
// already. One goroutine owns it: that of the receive queues whose frames it
// sends. Send a frame at a time, Flush once a poll, Reap once a poll.
type SendQueue struct {
	ring     sendring.Ring
	dom      *dma.Domain
	sent     []sent    // by the slot a WQE begins at
	pages    []mem.Ref // references in flight, in order
	pageHead uint32    // runs freely
	pageTail uint32
	maxFrame int
	count    SendStats
}

// sent is what goes home when a WQE is done.
type sent struct {
	give  Give
	pages uint8
}

// pagesPerBlock is the worst case: each segment names a page (facts/mlx5e.md
// 12, bug 28).
const pagesPerBlock = desc.SegmentsPerBlock

// SendStats are the counts of a send queue since it was made, named as
// ethtool's rx_xdp_tx_* (facts/mlx5e.md 11.1). Every frame that Send took is in
// Xmit, and when it ended in Done or Lost.
type SendStats struct {
	Xmit  uint64 // frames taken
	Full  uint64 // refused: no room in the ring
	Err   uint64 // refused: shorter than an Ethernet header, or longer than the limit
	Nops  uint64 // blocks that fill a fragment up
	CQEs  uint64 // completions
	Done  uint64 // frames whose pages came home because the device has sent
	Lost  uint64 // frames whose pages came home because the queue was reset
	Error uint64 // error completions, and those that contradict what was posted

	Recover uint64 // restarts of the queue
}

// NewSendQueue makes a queue in state Ready; a device takes its SQ. dom is lent
// until Close; every page that is sent is mapped in it.
func NewSendQueue(cfg SendConfig, dom *dma.Domain) (*SendQueue, error) {
	if cfg.MaxFrame == 0 {
		cfg.MaxFrame = defaultMaxFrame
	}
	if cfg.MaxFrame < MinFrame || cfg.MaxFrame > maxFrame {
		return nil, fmt.Errorf("xdp: MaxFrame is %d, want %d to %d",
			cfg.MaxFrame, MinFrame, maxFrame)
	}
	ring, err := sendring.New(cfg.Blocks, cfg.Number)
	if err != nil {
		return nil, fmt.Errorf("xdp: %w", err)
	}
	blocks := ring.Blocks()
	return &SendQueue{
		ring: ring, dom: dom, maxFrame: cfg.MaxFrame,
		sent: make([]sent, blocks), pages: make([]mem.Ref, blocks*pagesPerBlock),
	}, nil
}

// SQ is what the device takes: lent until Close.
func (q *SendQueue) SQ() *desc.SQ { return q.ring.SQ }

// Send takes the frame in b, with one reference on each page that holds bytes
// of it, and gives them back when it is sent. It reports false, counts why, and
// takes nothing, when the frame has no sendable length or the ring has no
// room. The device sees it behind Flush.
//
// Budget: 30 ns for a frame of one piece, with its share of Flush and Reap.
func (q *SendQueue) Send(b *Buff, give Give) bool {
	n := b.Len()
	if n < MinFrame || n > q.maxFrame {
		q.count.Err++
		return false
	}
	head, segments := b.Head(), 2+b.n
	if head.Len > 0 {
		segments++
	}
	blocks := (segments + desc.SegmentsPerBlock - 1) / desc.SegmentsPerBlock
	if !q.ring.Room(blocks) && !q.makeRoom(blocks) {
		q.count.Full++
		return false
	}
	pc := q.ring.Producer()
	wqe := q.ring.SQ.At(pc)
	wqe.Control().Set(uint16(pc), desc.SendFrame, q.ring.SQ.Number, int(segments))
	*wqe.Eth() = desc.EthSegment{}
	at := uint32(2)
	if head.Len > 0 {
		q.point(pc, at, head)
		at++
	}
	for _, f := range b.Frags() {
		q.point(pc, at, f)
		at++
	}
	q.sent[q.ring.Slot(pc)] = sent{give, uint8(at - 2)}
	q.ring.Commit(blocks)
	q.count.Xmit++
	return true
}

// point makes segment i of the WQE at pc name a piece, which becomes the
// device's. No segment of length 0 is written: the device would read 2 GiB
// (facts/mlx5e.md 1.5).
func (q *SendQueue) point(pc, i uint32, f packet.Frag) {
	iova := f.Ref.Meta().IOVA + uint64(f.Off)
	q.dom.SyncForDevice(iova, f.Len)
	block := q.ring.SQ.At(pc + i/desc.SegmentsPerBlock)
	block.Data(int(i%desc.SegmentsPerBlock)).Set(f.Len, desc.MemoryKey, iova)
	q.pages[q.pageHead&uint32(len(q.pages)-1)] = f.Ref
	q.pageHead++
}

// makeRoom looks whether the device has done something meanwhile.
func (q *SendQueue) makeRoom(blocks uint32) bool {
	q.Flush()
	q.Reap()
	return q.ring.Room(blocks)
}

// Flush gives all that was sent to the device. One completion is asked for, by
// the last WQE, for all of them (facts/mlx5e.md 7.5).
func (q *SendQueue) Flush() { q.ring.Flush() }
