package xdp

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
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
	defaultBlocks   = 1024
	defaultMaxFrame = 1518
	maxFrame        = 65535
)

// A SendQueue is the driver side of a send queue of pages that are mapped
// already. One goroutine owns it: that of the receive queues whose frames it
// sends. Send a frame at a time, Flush once a poll, Reap once a poll.
type SendQueue struct {
	// Hot. Counters run freely, in blocks; a slot is counter & mask.
	sq       *desc.SQ
	dom      *dma.Domain
	pc       uint32 // next block to write
	cc       uint32 // oldest block that is not completed
	rung     uint32 // pc when the doorbell was last rung
	last     uint32 // first block of the newest WQE
	sent     []sent
	pages    []mem.Ref // references in flight, in order
	pageHead uint32    // runs freely
	pageTail uint32
	maxFrame int
	count    SendStats

	// Warm: once a poll.
	seen   uint32 // completions taken
	broken bool   // restart the queue
}

// sent is what goes home when the WQE that begins at a block is done. A block
// where none begins has blocks 0.
type sent struct {
	give   Give
	blocks uint8 // that it takes
	pages  uint8
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
	if cfg.Blocks == 0 {
		cfg.Blocks = defaultBlocks
	}
	if cfg.MaxFrame == 0 {
		cfg.MaxFrame = defaultMaxFrame
	}
	if cfg.Blocks < 1<<desc.MinLogSQ || cfg.Blocks > 1<<desc.MaxLogSQ ||
		cfg.Blocks&(cfg.Blocks-1) != 0 {
		return nil, fmt.Errorf("xdp: a send queue of %d blocks, want a power of two, %d to %d",
			cfg.Blocks, 1<<desc.MinLogSQ, 1<<desc.MaxLogSQ)
	}
	if cfg.MaxFrame < MinFrame || cfg.MaxFrame > maxFrame {
		return nil, fmt.Errorf("xdp: MaxFrame is %d, want %d to %d",
			cfg.MaxFrame, MinFrame, maxFrame)
	}
	log := bits.TrailingZeros(uint(cfg.Blocks))
	cq, err := desc.NewCQ(log, desc.CompressNone, desc.MiniCSum)
	if err != nil {
		return nil, err
	}
	sq, err := desc.NewSQ(log, uint32(cfg.Number), cq)
	if err != nil {
		return nil, err
	}
	q := &SendQueue{
		sq: sq, dom: dom, maxFrame: cfg.MaxFrame,
		sent: make([]sent, cfg.Blocks), pages: make([]mem.Ref, cfg.Blocks*pagesPerBlock),
	}
	sq.Modify(desc.Reset, desc.Ready)
	return q, nil
}

// SQ is what the device takes: lent until Close.
func (q *SendQueue) SQ() *desc.SQ { return q.sq }

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
	if !q.room(blocks) && !q.makeRoom(blocks) {
		q.count.Full++
		return false
	}
	pc := q.pc
	wqe := q.sq.At(pc)
	wqe.Control().Set(uint16(pc), desc.SendFrame, q.sq.Number, int(segments))
	*wqe.Eth() = desc.EthSegment{}
	at := uint32(2)
	if head.Len > 0 {
		q.point(at, head)
		at++
	}
	for _, f := range b.Frags() {
		q.point(at, f)
		at++
	}
	q.sent[pc&q.mask()] = sent{give, uint8(blocks), uint8(at - 2)}
	q.last, q.pc = pc, pc+blocks
	q.count.Xmit++
	return true
}

// point makes segment i of the WQE at pc name a piece, which becomes the
// device's. No segment of length 0 is written: the device would read 2 GiB
// (facts/mlx5e.md 1.5).
func (q *SendQueue) point(i uint32, f packet.Frag) {
	iova := f.Ref.Meta().IOVA + uint64(f.Off)
	q.dom.SyncForDevice(iova, f.Len)
	block := q.sq.At(q.pc + i/desc.SegmentsPerBlock)
	block.Data(int(i%desc.SegmentsPerBlock)).Set(f.Len, memoryKey, iova)
	q.pages[q.pageHead&uint32(len(q.pages)-1)] = f.Ref
	q.pageHead++
}

// memoryKey names the domain in data segments.
const memoryKey = 0x200

func (q *SendQueue) mask() uint32 { return uint32(len(q.sent) - 1) }

// room makes the next WQE of so many blocks begin where it does not cross a
// fragment, with NOPs if need be (facts/mlx5e.md 1.1).
func (q *SendQueue) room(blocks uint32) bool {
	free := uint32(len(q.sent)) - (q.pc - q.cc)
	edge := desc.BlocksPerFragment - q.pc%desc.BlocksPerFragment
	if blocks <= edge {
		return blocks <= free
	}
	if edge+blocks > free {
		return false
	}
	for range edge {
		q.sq.At(q.pc).Control().Set(uint16(q.pc), desc.SendNop, q.sq.Number, 1)
		q.sent[q.pc&q.mask()] = sent{blocks: 1}
		q.pc++
		q.count.Nops++
	}
	return true
}

// makeRoom looks whether the device has done something meanwhile.
func (q *SendQueue) makeRoom(blocks uint32) bool {
	q.Flush()
	q.Reap()
	return q.room(blocks)
}

// Flush gives all that was sent to the device. One completion is asked for, by
// the last WQE, for all of them (facts/mlx5e.md 7.5).
func (q *SendQueue) Flush() {
	if q.pc == q.rung {
		return
	}
	q.sq.At(q.last).Control().Complete()
	q.rung = q.pc
	q.sq.Producer.Ring(q.pc & 0xffff)
}
