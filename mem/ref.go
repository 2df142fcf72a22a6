package mem

import "fmt"

// A Ref names one page: the region in its top 8 bits, the page in the rest.
// The zero Ref names nothing.
type Ref uint32

// None is the Ref that names no page.
const None Ref = 0

const (
	pageBits   = 24
	maxRegions = 1 << (32 - pageBits)
	maxPages   = 1 << pageBits
)

// Region is the number of the region that holds the page.
func (r Ref) Region() uint8 { return uint8(r >> pageBits) }

// Page is the page's index in its region.
func (r Ref) Page() uint32 { return uint32(r) & (maxPages - 1) }

// Holds reports whether n bytes at off lie in the page, and the page in an open
// region: whether Bytes and At would not panic.
func (r Ref) Holds(off, n uint32) bool {
	s := &spaces[r>>pageBits]
	return r.Page() < s.pages && uint64(off)+uint64(n) <= uint64(s.pageBytes)
}

// Meta is the record beside a page, one cache line long. It belongs to the
// owner of the page; only the owner's goroutine reads or writes it.
type Meta struct {
	IOVA  uint64 // where the device sees the page; 0 while it is not mapped
	Refs  int32  // references handed out; the pool recycles the page at 0
	Pool  uint16 // owner: the pool's number; 0 for none
	Node  uint16 // NUMA node
	State uint8  // set by the owner; pagepool defines the values
	_     [43]byte
}

// An accessError is the panic of an access outside a page or its region.
type accessError struct {
	ref    Ref
	off, n uint32
}

func (e accessError) Error() string {
	s := spaces[e.ref.Region()]
	return fmt.Sprintf("mem: %d bytes at %d of page %d, region %d, which has %d pages of %d bytes",
		e.n, e.off, e.ref.Page(), e.ref.Region(), s.pages, s.pageBytes)
}
