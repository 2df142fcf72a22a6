package nic

import "github.com/millrace-net/millrace/desc"

// measure walks the data segments, and counts the bytes of the header and of
// what the segments name; nothing is looked up yet. 0: no error
// (facts/mlx5e.md 1.5).
func (w *wqe) measure() desc.Syndrome {
	w.bytes, w.inlined = w.header, w.header
	for at := w.data; at < w.end; {
		n, inline := w.segment(at)
		switch {
		case !inline && n == 0: // means 2 GiB, which no page has
			return desc.LocalProt
		case inline && (n == 0 || n > desc.MaxInline || at+desc.InlineDataStart+n > w.end):
			return desc.LocalQPOp
		case inline:
			w.inlined += n
		}
		if w.bytes += n; w.bytes > maxLarge {
			return desc.LocalLength
		}
		at += segmentBytes(n, inline)
	}
	if w.bytes == 0 {
		return desc.LocalQPOp
	}
	return 0
}

// segment is the length of the data segment at that byte of the WQE, and
// whether its bytes lie behind it in the WQE.
func (w *wqe) segment(at int) (n int, inline bool) {
	v := (*desc.DataSegment)(w.raw[at:]).ByteCount()
	return int(v &^ desc.InlineData), v&desc.InlineData != 0
}

// segmentBytes is what a data segment takes of the WQE.
func segmentBytes(n int, inline bool) int {
	if !inline {
		return desc.SegmentBytes
	}
	return (desc.InlineDataStart + n + desc.SegmentBytes - 1) &^ (desc.SegmentBytes - 1)
}

// inlinePiece lends the bytes of an inline segment at that byte of a WQE that
// was measured, and says where the next segment begins.
func (w *wqe) inlinePiece(at int) (b []byte, next int) {
	n, _ := w.segment(at)
	next = at + segmentBytes(n, true)
	at += desc.InlineDataStart
	return w.raw[at : at+n : at+n], next
}
