package dma

import (
	"bytes"
	"sync/atomic"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// A slot is what the device sees of one mapped range. The device uses iova
// and bytes, which never change, and open; the rest belongs to the CPU's side.
// A slot that is not mapped keeps its address and waits for another range.
type slot struct {
	iova  uint64
	bytes []byte
	open  atomic.Uint64 // length << 2 | Dir; 0 while nothing is mapped

	page   mem.Ref
	off, n uint32
	dir    Dir
	held   bool     // Unmap does not copy
	synced []uint64 // Poison: a bit a byte, the CPU may read it

	coherent bool // bytes are the CPU's own
}

// cpu is the CPU's side of n bytes at off in the slot.
func (s *slot) cpu(off, n uint32) []byte { return s.page.Bytes(s.off+off, n) }

// give hands n bytes at off to the device. What it may write the CPU must not
// look at until it is synced.
func (s *slot) give(off, n uint32) {
	cpu := s.cpu(off, n)
	copy(s.bytes[off:], cpu)
	s.hide(cpu, off, n)
}

func (s *slot) hide(cpu []byte, off, n uint32) {
	if s.synced == nil {
		return
	}
	s.mark(off, n, s.dir == ToDevice)
	if s.dir != ToDevice {
		check.Fill(cpu)
	}
}

// take hands n bytes at off to the CPU.
func (s *slot) take(off, n uint32) {
	copy(s.cpu(off, n), s.bytes[off:])
	s.mark(off, n, true)
}

// changed: the CPU wrote to bytes while the device was to read them. Only
// Poison looks.
func (s *slot) changed() bool {
	return s.synced != nil && s.dir == ToDevice && s.page.Holds(s.off, s.n) &&
		!bytes.Equal(s.cpu(0, s.n), s.bytes[:s.n])
}

// mark sets or clears the bits of n bytes at off.
func (s *slot) mark(off, n uint32, synced bool) {
	if s.synced == nil {
		return
	}
	for end := off + n; off < end; {
		mask, next := span64(off, end)
		if synced {
			s.synced[off/64] |= mask
		} else {
			s.synced[off/64] &^= mask
		}
		off = next
	}
}

// marked reports whether the CPU may read all n bytes at off.
func (s *slot) marked(off, n uint32) bool {
	if s.synced == nil {
		return true
	}
	for end := off + n; off < end; {
		mask, next := span64(off, end)
		if s.synced[off/64]&mask != mask {
			return false
		}
		off = next
	}
	return true
}

// span64 is the bits from off on in their word, up to end, and where the next
// word begins.
func span64(off, end uint32) (mask uint64, next uint32) {
	next = min(end, off&^63+64)
	return ^uint64(0) >> (64 - (next - off)) << (off % 64), next
}
