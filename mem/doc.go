// Package mem holds packet memory: regions off the Go heap, cut into pages.
//
//	Region  [ page 0 | page 1 | page 2 | ... ]   one mapping
//	Meta    [ 64 B   | 64 B   | 64 B   | ... ]   one cache line a page
//	Ref     region (8 bits), page (24 bits)
//
// A page is named by a Ref, never by a pointer, so the collector has nothing
// to scan and a stale name can be caught: access behind the end of a page or
// to a closed region panics. Free pages belong to their Region; whoever
// allocates one owns it until Free. Beside every page lies its Meta, the
// "struct page" of this data path.
//
// The trap: the race detector does not see mapped memory. Tests that are to
// find races use Kind Heap.
package mem
