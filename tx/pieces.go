package tx

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A mark is a position in front of a packet.
type mark struct{ maps, bufs, pages uint32 }

func (q *Queue) mark() mark { return mark{q.head.maps, q.head.bufs, q.head.pages} }

// unwind undoes the mappings that were made since m: those of a packet that
// cannot be sent, and no others (facts/mlx5e.md 7.4; 12, bug 13).
func (q *Queue) unwind(m mark) {
	q.unmap(m.maps, q.head.maps)
	q.head.maps = m.maps
	for q.head.pages != m.pages {
		q.head.pages--
		q.linear.give(q.linear.out[q.head.pages&uint32(len(q.linear.out)-1)])
	}
	q.head.bufs = m.bufs
}

// fail ends a packet that has no address. What was posted before may wait for a
// doorbell that the caller rings only behind his last packet: it is rung here.
// The ring keeps its newest WQE to ask for the completion, so that, unlike in
// mlx5e, no NOP is needed for it.
func (q *Queue) fail(m mark) packet.Drop {
	q.unwind(m)
	q.Flush()
	return packet.DropMapFailed
}

// reach is the I/O address of a piece. A page that stays mapped is never
// unmapped here (facts/mlx5e.md 12, bug 36).
func (q *Queue) reach(ref mem.Ref, off, n uint32) (iova uint64, ok bool) {
	if q.limits.kept && ref.Meta().IOVA != 0 {
		iova = ref.Meta().IOVA + uint64(off)
		q.dom.SyncForDevice(iova, n)
		return iova, true
	}
	iova, err := q.mapper.MapRange(ref, off, n, dma.ToDevice)
	if err != nil {
		return 0, false
	}
	q.noteMap(iova)
	return iova, true
}

// noteMap has a mapping undone when the device has done the WQE.
func (q *Queue) noteMap(iova uint64) {
	q.maps[q.head.maps&uint32(len(q.maps)-1)] = iova
	q.head.maps++
}

// pieces is how many data segments the packet's bytes from skip on, which is in
// its linear part, take where they are.
func (t *task) pieces(skip uint32) int {
	if t.p.Linear > skip {
		return 1 + len(t.frags)
	}
	return len(t.frags)
}

// place makes data segments of the packet's bytes from skip on, of which there
// is one at least. It reports false when there is no address for them.
func (q *Queue) place(w []byte, t *task, way Way, skip uint32) bool {
	n := t.p.Len - skip
	if way == Linearize {
		iova, ok := q.linearize(t, skip)
		segment(w).Set(n, desc.MemoryKey, iova)
		return ok
	}
	if way == Mapped {
		return q.point(w, t, skip)
	}
	buf, iova := q.bufs.take(&q.head.bufs, n)
	t.copyTo(buf, skip)
	segment(w).Set(n, desc.MemoryKey, iova)
	return true
}

// point makes data segments of the packet's pieces where they are. No segment
// of length 0 is written: the device would read 2 GiB (facts/mlx5e.md 1.5).
func (q *Queue) point(w []byte, t *task, skip uint32) bool {
	if n := t.p.Linear - skip; n > 0 {
		iova, ok := uint64(0), false
		if len(t.frags) > 0 {
			iova, ok = q.reachHead(t.p, skip, n)
		} else {
			iova, ok = q.reach(t.p.Head, t.p.Start+t.p.Data+skip, n)
		}
		if !ok {
			return false
		}
		segment(w).Set(n, desc.MemoryKey, iova)
		w = w[desc.SegmentBytes:]
	}
	if !q.limits.kept {
		_, ok := q.mapFrags(w, t.frags)
		return ok
	}
	for i := range t.frags {
		f := &t.frags[i]
		iova, ok := q.reach(f.Ref, f.Off, f.Len)
		if !ok {
			return false
		}
		segment(w).Set(f.Len, desc.MemoryKey, iova)
		w = w[desc.SegmentBytes:]
	}
	return true
}

// mapFrags maps fragments, makes a data segment of each, and adds their lengths
// up. It reports false when one is empty or has no address.
func (q *Queue) mapFrags(w []byte, frags []packet.Frag) (bytes uint64, ok bool) {
	maps, head := q.maps, q.head.maps
	for i := range frags {
		f := &frags[i]
		iova, err := q.mapper.MapRange(f.Ref, f.Off, f.Len, dma.ToDevice)
		if err != nil {
			q.head.maps = head
			return 0, false
		}
		maps[head&uint32(len(maps)-1)] = iova
		head++
		segment(w).Set(f.Len, desc.MemoryKey, iova)
		w = w[desc.SegmentBytes:]
		bytes += uint64(f.Len)
	}
	q.head.maps = head
	return bytes, true
}

// reachHead is the I/O address of n linear bytes from skip on, in front of
// fragments. With Premapped they are copied.
func (q *Queue) reachHead(p *packet.Packet, skip, n uint32) (iova uint64, ok bool) {
	if q.copying.Way != Premapped || n > uint32(q.cfg.BufBytes) {
		return q.reach(p.Head, p.Start+p.Data+skip, n)
	}
	buf, iova := q.bufs.take(&q.head.bufs, n)
	copy(buf, p.Bytes()[skip:])
	return iova, true
}

// countHead counts a linear part that reachHead copied since m.
func (q *Queue) countHead(m mark, n uint32) {
	if q.head.bufs != m.bufs {
		q.count.headers.add(n)
	}
}

func segment(w []byte) *desc.DataSegment { return (*desc.DataSegment)(w) }

// copyTo copies the packet's bytes from skip on, which is in its linear part.
func (t *task) copyTo(dst []byte, skip uint32) {
	n := copy(dst, t.p.Bytes()[skip:])
	for i := range t.frags {
		n += copy(dst[n:], t.frags[i].Bytes())
	}
}

// gather copies a linear part and fragments to dst. It reports false when they
// are not as long as it, or a fragment is empty.
func gather(dst, head []byte, frags []packet.Frag) bool {
	n := copy(dst, head)
	for i := range frags {
		f := &frags[i]
		if f.Len == 0 || uint64(f.Len) > uint64(len(dst)-n) {
			return false
		}
		n += copy(dst[n:], f.Bytes())
	}
	return n == len(dst) && len(head) <= n
}

// linearize copies them to memory taken for them, and maps that.
func (q *Queue) linearize(t *task, skip uint32) (iova uint64, ok bool) {
	l, n := &q.linear, t.p.Len-skip
	page := l.take()
	t.copyTo(page.Bytes(0, n), skip)
	iova, err := q.mapper.MapRange(page, 0, n, dma.ToDevice)
	if err != nil {
		l.give(page)
		return 0, false
	}
	l.out[q.head.pages&uint32(len(l.out)-1)] = page
	q.head.pages++
	q.noteMap(iova)
	return iova, true
}

// copyHeaders copies the first n bytes of the packet, linear ones and at least
// an Ethernet header, with its tag put in. It returns their length, which is
// what the WQE has to say: bug 57 of facts/mlx5e.md 12 said another one.
func (t *task) copyHeaders(dst []byte, n uint32) int {
	b := t.p.Bytes()[:n]
	at := 0
	if t.p.TagType != 0 {
		at = copy(dst, b[:header.TagOffset])
		binary.BigEndian.PutUint16(dst[at:], t.p.TagType)
		binary.BigEndian.PutUint16(dst[at+2:], t.p.TagTCI)
		at += header.VLANBytes
		b = b[header.TagOffset:]
	}
	return at + copy(dst[at:], b)
}
