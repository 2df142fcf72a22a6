package rx

import (
	"unsafe"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

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

// expect keeps what prefetches assume: frames like this one. If it is UDP, its
// headers are in one line, and the other would cost a fetch from memory for
// nothing.
func (q *Queue) expect(room uint32, c *desc.CQE) {
	q.second, q.room = 64, room
	if c.HdrType().L4() == desc.HdrUDP && !c.Tunneled() {
		q.second = 0
	}
}

// prefetchFirst begins a poll that has more than a frame to take: it asks for
// those up to q.distance. What the last poll asked for beyond its own frames was
// too early if the device wrote it since.
func (q *Queue) prefetchFirst() {
	ix := uint32(q.current)
	if int(ix) >= len(q.consumed) || !q.several() {
		return
	}
	at := q.placeAt(ix, q.consumed[ix], 0)
	end := min(at.index+q.distance, q.strides)
	for i := (at.index + q.pairMask) &^ q.pairMask; i < end; i += 1 + q.pairMask {
		q.prefetchStrides(at, i)
	}
}

// several reports whether more than one completion waits, as far as the ring
// shows it at a glance.
func (q *Queue) several() bool {
	w, next := q.cq.At(q.cc).Own(), q.cc+1
	return w.ReadyIn(q.cq.Lap(q.cc)) && (w.Format() == desc.FormatCompressed ||
		q.cq.At(next).Own().ReadyIn(q.cq.Lap(next)))
}

// prefetchStrides asks for the lines that the frame in stride i will touch, and
// where q.pairMask is 1 for those of the frame behind it: two of its headers, the
// record of the page, and the SharedInfo. Both strides are of the WQE of at and
// behind it. No byte is read, so it may come before the sync, and before the
// device has written.
func (q *Queue) prefetchStrides(at place, i uint32) {
	if q.blind {
		if !q.prefetch.SkipMeta {
			q.prefetchRecords(at, i)
		}
		return
	}
	ref, stride := q.ahead(at, i)
	first, meta := unsafe.Add(stride, q.headroom), q.record(ref)
	if q.prefetch.SkipMeta {
		meta = first
	}
	if !q.pairPages {
		shared := unsafe.Add(stride, q.room)
		if q.prefetch.SkipShared {
			shared = first
		}
		mem.Prefetch(first, unsafe.Add(first, q.second), shared, meta, meta, uintptr(q.pairBytes))
		return
	}
	ref, stride = q.ahead(at, i+1)
	next, nextMeta := unsafe.Add(stride, q.headroom), q.record(ref)
	if q.prefetch.SkipMeta {
		nextMeta = next
	}
	mem.Prefetch(first, next, first, meta, nextMeta, uintptr(q.second))
}

// prefetchRecords is prefetchStrides without the frames.
func (q *Queue) prefetchRecords(at place, i uint32) {
	first, _ := q.ahead(at, i)
	second, _ := q.ahead(at, i+q.pairMask)
	a, b := q.record(first), q.record(second)
	mem.Prefetch(a, b, a, a, b, 0)
}

// prefetchNext asks for the headers of the frame behind the one at at, and for
// the record of its page. The caller has checked that the stride, so many
// behind, is one of the same WQE.
func (q *Queue) prefetchNext(at place, strides uint32) {
	ref, first := q.ahead(at, at.index+strides)
	second, meta := unsafe.Add(first, 64), q.record(ref)
	mem.Prefetch(first, second, meta, meta, meta, 0)
}

// ahead is stride i, behind the one at at in its WQE.
func (q *Queue) ahead(at place, i uint32) (mem.Ref, unsafe.Pointer) {
	off := at.off + (i-at.index)<<(q.strideShift&31)
	ref := q.pages[at.slot+off>>(q.pageShift&31)].Page
	return ref, q.at(ref, off&(q.pageBytes-1))
}

// record is the address of an installed page's Meta.
func (q *Queue) record(ref mem.Ref) unsafe.Pointer {
	return unsafe.Add(q.metas, uintptr(ref-q.first)*unsafe.Sizeof(mem.Meta{}))
}
