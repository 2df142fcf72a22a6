package dma

import (
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// A frame is what the device sees of one mapped page. The device uses iova
// and shadow, which never change; the rest belongs to the CPU's side. An
// unmapped frame keeps its address and waits for another page of that size.
type frame struct {
	iova   uint64
	shadow []byte
	page   mem.Ref
	synced []uint64 // a bit a byte: the CPU may read it
}

func newFrame(page mem.Ref, iova, size uint64) *frame {
	return &frame{
		iova: iova, page: page,
		shadow: make([]byte, size), synced: make([]uint64, size/64),
	}
}

// give hands n bytes at off to the device.
func (f *frame) give(off, n uint32, poison bool) {
	cpu := f.page.Bytes(off, n)
	copy(f.shadow[off:], cpu)
	f.mark(off, n, false)
	if poison {
		check.Fill(cpu)
	}
}

// take hands n bytes at off to the CPU.
func (f *frame) take(off, n uint32) {
	copy(f.page.Bytes(off, n), f.shadow[off:])
	f.mark(off, n, true)
}

// mark sets or clears the bits of n bytes at off.
func (f *frame) mark(off, n uint32, synced bool) {
	for end := off + n; off < end; {
		mask, next := span(off, end)
		if synced {
			f.synced[off/64] |= mask
		} else {
			f.synced[off/64] &^= mask
		}
		off = next
	}
}

// marked reports whether the CPU may read all n bytes at off.
func (f *frame) marked(off, n uint32) bool {
	for end := off + n; off < end; {
		mask, next := span(off, end)
		if f.synced[off/64]&mask != mask {
			return false
		}
		off = next
	}
	return true
}

// span is the bits from off on in their word, up to end, and where the next
// word begins.
func span(off, end uint32) (mask uint64, next uint32) {
	next = min(end, off&^63+64)
	return ^uint64(0) >> (64 - (next - off)) << (off % 64), next
}
