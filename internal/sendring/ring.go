package sendring

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/desc"
)

// DefaultBlocks is the size of a ring nobody chose one for.
const DefaultBlocks = 1024

// A Ring is the driver's end of a send queue. It belongs to the goroutine of
// its queue.
type Ring struct {
	SQ *desc.SQ

	pc    uint32  // next block to write
	cc    uint32  // oldest block that was not taken off
	done  uint32  // the device has done all before it
	rung  uint32  // pc when the doorbell was last rung
	last  uint32  // first block of the newest WQE
	room  uint32  // blocks in a row that may be written, at least
	mask  uint32  // blocks less one
	wqes  []uint8 // by the block a WQE begins at: blocks it takes; 0: none begins
	count Stats

	seen    uint32 // completions read
	broken  bool   // the queue has to start over
	waiting bool   // the device owes a completion, since
	since   int64  // ns
}

// padding marks a NOP in wqes.
const padding = 0x80

// Stats are the counts of a ring since it was made.
type Stats struct {
	Nops      uint64 // blocks that fill a fragment up
	Doorbells uint64 // rung
	CQEs      uint64 // completions, of any kind
	CQEErr    uint64 // of these errors, and those that contradict what was posted
	Timeouts  uint64 // times the device did nothing for too long
	Recover   uint64 // times the ring started over
}

// New makes a ring of so many blocks, a power of two, 64 to 8192, or 0 for 1024,
// in state Ready. number is 24 bits.
func New(blocks, number int) (r Ring, err error) {
	if blocks == 0 {
		blocks = DefaultBlocks
	}
	if blocks < 1<<desc.MinLogSQ || blocks > 1<<desc.MaxLogSQ || blocks&(blocks-1) != 0 {
		return r, fmt.Errorf("a send queue of %d blocks, want a power of two, %d to %d",
			blocks, 1<<desc.MinLogSQ, 1<<desc.MaxLogSQ)
	}
	log := bits.TrailingZeros(uint(blocks))
	cq, err := desc.NewCQ(log, desc.CompressNone, desc.MiniCSum)
	if err != nil {
		return r, err
	}
	r = Ring{wqes: make([]uint8, blocks), mask: uint32(blocks) - 1}
	if r.SQ, err = desc.NewSQ(log, uint32(number), cq); err == nil {
		r.SQ.Modify(desc.Reset, desc.Ready)
	}
	return r, err
}

// Blocks is the size of the ring.
func (r *Ring) Blocks() uint32 { return r.mask + 1 }

// Free is the number of blocks that may be written.
func (r *Ring) Free() uint32 { return r.mask + 1 - (r.pc - r.cc) }

// Producer is the counter of the block that comes next: behind Room, where the
// WQE begins.
func (r *Ring) Producer() uint32 { return r.pc }

// Slot is where the owner keeps what the WQE at a counter holds.
func (r *Ring) Slot(counter uint32) uint32 { return counter & r.mask }

// Room says whether a WQE of n blocks, 1 to 16, fits. If so it may begin at
// Producer, where it crosses no fragment: NOPs fill one up if need be
// (facts/mlx5e.md 1.1).
func (r *Ring) Room(n uint32) bool { return n <= r.room || r.find(n) }

// find looks how much room there is, and goes on to the next fragment if that
// makes some.
func (r *Ring) find(n uint32) bool {
	edge, free := r.Contiguous(), r.Free()
	if n > edge && edge+n <= free {
		r.pad(edge)
		edge, free = desc.BlocksPerFragment, free-edge
	}
	r.room = min(edge, free)
	return n <= r.room
}

// Contiguous is the number of blocks to the end of the fragment.
func (r *Ring) Contiguous() uint32 { return desc.BlocksPerFragment - r.pc%desc.BlocksPerFragment }

// pad fills a fragment up.
func (r *Ring) pad(n uint32) {
	for range n {
		r.SQ.At(r.pc).Control().Set(uint16(r.pc), desc.SendNop, r.SQ.Number, 1)
		r.wqes[r.pc&r.mask] = 1 | padding
		r.last = r.pc
		r.pc++
	}
	r.count.Nops += uint64(n)
}

// Bytes are those from Producer to the end of the fragment: room for the WQE.
func (r *Ring) Bytes() []byte { return r.SQ.Fragment(r.pc) }

// Commit takes n blocks: they are a WQE, whole but for its completion. The
// device sees it behind Flush.
func (r *Ring) Commit(n uint32) {
	r.wqes[r.pc&r.mask] = uint8(n)
	r.last = r.pc
	r.pc += n
	r.room -= min(n, r.room)
}

// Flush gives all that was committed to the device, and reports whether there
// was something. One completion is asked for, by the last WQE, for all of them
// (facts/mlx5e.md 7.5).
func (r *Ring) Flush() bool {
	if r.pc == r.rung {
		return false
	}
	r.SQ.At(r.last).Control().Complete()
	r.rung = r.pc
	r.SQ.Producer.Ring(r.pc & 0xffff)
	r.count.Doorbells++
	return true
}

// Stats are the counts.
func (r *Ring) Stats() Stats { return r.count }
