package desc

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Entries of a CQ are 64-byte aligned (NewCQ), so bytes 60 to 63 are one
// aligned word inside the array.
func (c *CQE) ownWord() *uint32 { return (*uint32)(unsafe.Pointer(&c[offCounter])) }

// Own loads the ownership word of an entry in the ring. What the device wrote
// before Publish is seen by who finds the entry ready.
func (c *CQE) Own() OwnWord {
	w := atomic.LoadUint32(c.ownWord())
	return OwnWord(binary.BigEndian.Uint32((*[4]byte)(unsafe.Pointer(&w))[:]))
}

// Publish stores the ownership word of an entry in the ring, last of all its
// bytes.
func (c *CQE) Publish(word OwnWord) {
	var w uint32
	binary.BigEndian.PutUint32((*[4]byte)(unsafe.Pointer(&w))[:], uint32(word))
	atomic.StoreUint32(c.ownWord(), w)
}

// alignedCQEs is n entries at a multiple of 64 bytes.
func alignedCQEs(n int) []CQE { return aligned[CQE](n) }

// alignedBlocks is n blocks of a send queue at a multiple of 64 bytes.
func alignedBlocks(n int) []SendBlock { return aligned[SendBlock](n) }

// aligned is n arrays of 64 bytes at a multiple of 64. The slice keeps the
// allocation alive and ends inside it.
func aligned[T CQE | SendBlock](n int) []T {
	b := make([]byte, (n+1)*64)
	skip := (64 - uintptr(unsafe.Pointer(&b[0]))%64) % 64
	return unsafe.Slice((*T)(unsafe.Pointer(&b[skip])), n)
}

// blockBytes views blocks, of which there is at least one, as bytes.
func blockBytes(b []SendBlock) []byte { return unsafe.Slice(&b[0][0], len(b)*BlockBytes) }
