package mem

import "unsafe"

var _ [64]byte = [unsafe.Sizeof(Meta{})]byte{}

// Bytes is the page's bytes off to off+n, cut so that append cannot run on.
// It panics when they do not lie in the page or the region is closed.
func (r Ref) Bytes(off, n uint32) []byte {
	return unsafe.Slice((*byte)(r.At(off, n)), int(n))
}

// At is the address of n bytes at off in the page, with the checks of Bytes.
// The bytes lie inside the page, and the page stays mapped until its Region
// is closed, which no Ref outlives.
func (r Ref) At(off, n uint32) unsafe.Pointer {
	s := &spaces[r>>pageBits]
	page := uint32(r) & (maxPages - 1)
	if page >= s.pages || uint64(off)+uint64(n) > uint64(s.pageBytes) {
		panic(accessError{r, off, n})
	}
	return unsafe.Add(s.base, uintptr(page)*uintptr(s.pageBytes)+uintptr(off))
}

// Meta is the record beside the page. The array has one for every page, and
// the page number is checked.
func (r Ref) Meta() *Meta {
	s := &spaces[r>>pageBits]
	page := uint32(r) & (maxPages - 1)
	if page >= s.pages {
		panic(accessError{r, 0, 0})
	}
	return (*Meta)(unsafe.Add(s.meta, uintptr(page)*unsafe.Sizeof(Meta{})))
}

// PageBytes is the size of the page; 0 when its region is not open.
func (r Ref) PageBytes() uint32 { return spaces[r>>pageBits].pageBytes }

// heap takes the region's memory from the Go heap, aligned to a cache line.
func (r *Region) heap(n int) {
	words := make([]uint64, n/8+8)
	skip := (64 - uintptr(unsafe.Pointer(&words[0]))%64) % 64
	r.bytes = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&words[0]), skip)), n)
	r.meta = make([]Meta, r.cfg.Pages)
	r.backing = "heap"
	r.unmap = func() error { r.bytes, r.meta = nil, nil; return nil }
}
