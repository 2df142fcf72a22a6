package rx

import (
	"unsafe"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A page is a slot of the ring. A ref of mem.None marks a slot that holds no
// page, so there is nothing to release.
type page struct {
	ref  mem.Ref
	refs uint32 // references handed to packets
	iova uint64
}

// An arena is the region that all pages of the queue are of: one mapping, and
// one array of records. What a Ref looks up for every packet is looked up once.
type arena struct {
	first mem.Ref
	base  unsafe.Pointer // of page 0
	metas unsafe.Pointer // of its record
}

func arenaOf(r *mem.Region) arena {
	first := r.Ref(0)
	return arena{
		first: first,
		base:  first.At(0, uint32(r.PageBytes())), metas: unsafe.Pointer(first.Meta()),
	}
}

// at is the address of a byte of an installed page. The pool gives pages of
// its region only, whatever its provider does, and install has found the
// page's record; the caller has checked the offset.
func (q *Queue) at(ref mem.Ref, off uint32) unsafe.Pointer {
	return unsafe.Add(q.base, uintptr(ref-q.first)<<(q.pageShift&31)+uintptr(off))
}

// shared is the SharedInfo at off of an installed page. The buffer it ends
// lies in the page; buffers and rooms are multiples of 64.
func (q *Queue) shared(ref mem.Ref, off uint32) *packet.SharedInfo {
	return (*packet.SharedInfo)(q.at(ref, off))
}

// due reports whether the frame q.distance strides ahead of at is to be asked
// for: it is in the same WQE, and the first of those that one call asks for.
func (q *Queue) due(at place) bool {
	ahead := at.index + q.distance
	return ahead&q.pairMask == 0 && ahead < q.strides
}

// prime asks for the frame at hand and those up to q.distance behind it. It
// comes with the first frame of a poll: what the last poll asked for beyond its
// own frames was too early, if the device wrote it since.
func (q *Queue) prime(at place, room uint32, c *desc.CQE) {
	q.primed = true
	end := min(at.index+q.distance, q.strides)
	for i := at.index &^ q.pairMask; i < end; i += 1 + q.pairMask {
		q.prefetchStrides(at, i, room, c)
	}
}

// prefetchStrides asks for the lines that the frame in stride i will touch, and
// the one behind it where two or more lie in a page: two of its headers, the
// SharedInfo it has if it is as long as that in at, and the record of the page.
// If it is UDP as this one, its headers are in one line, and the other would
// cost a fetch from memory for nothing. No byte is read, so it may come before
// the sync, and before the device has written. The stride is one of the WQE.
func (q *Queue) prefetchStrides(at place, i, room uint32, c *desc.CQE) {
	ref, stride := q.ahead(at, (i-at.index)<<(q.strideShift&31))
	first := unsafe.Add(stride, q.headroom)
	second := unsafe.Add(first, 64)
	if c.HdrType().L4() == desc.HdrUDP && !c.Tunneled() {
		second = first
	}
	shared, meta := unsafe.Add(stride, room), q.record(ref)
	if q.prefetch.SkipShared {
		shared = first
	}
	if q.prefetch.SkipMeta {
		meta = first
	}
	mem.Prefetch(first, second, shared, meta, uintptr(q.pairBytes))
}

// prefetchNext asks for the headers of the frame behind the one at at, and for
// the record of its page. The caller has checked that the stride, so many
// behind, is one of the same WQE.
func (q *Queue) prefetchNext(at place, strides uint32) {
	ref, first := q.ahead(at, strides<<(q.strideShift&31))
	second, meta := unsafe.Add(first, 64), q.record(ref)
	mem.Prefetch(first, second, meta, meta, 0)
}

// ahead is the stride so many bytes behind the one at at, modulo 2³² for one in
// front of it in the same page.
func (q *Queue) ahead(at place, bytes uint32) (mem.Ref, unsafe.Pointer) {
	off := at.off + bytes
	ref := q.pages[at.slot+off>>(q.pageShift&31)].ref
	return ref, q.at(ref, off&(q.pageBytes-1))
}

// record is the address of an installed page's Meta.
func (q *Queue) record(ref mem.Ref) unsafe.Pointer {
	return unsafe.Add(q.metas, uintptr(ref-q.first)*unsafe.Sizeof(mem.Meta{}))
}
