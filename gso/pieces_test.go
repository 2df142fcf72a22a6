package gso

import (
	"testing"

	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// newPacket makes a packet of linear bytes in a small head and one fragment
// for each of frags, at odd offsets of their pages.
func newPacket(t *testing.T, slab *packet.Slab, r *mem.Region, linear []byte,
	frags ...[]byte) uint32 {
	t.Helper()
	i := slab.Get()
	p := slab.At(i)
	*p = packet.Packet{}
	if i == 0 || !slab.GetSmall(p) {
		t.Fatal("the slab is empty")
	}
	p.Linear = uint32(len(linear))
	p.Len = p.Linear
	copy(p.Bytes(), linear)
	p.Shared().NumFrags = 0xffff // not to be looked at in a linear packet
	if len(frags) > 0 {
		*p.Shared() = packet.SharedInfo{NumFrags: uint32(len(frags))}
	}
	for k, b := range frags {
		var page [1]mem.Ref
		if r.Alloc(page[:]) != 1 {
			t.Fatal("no page is free")
		}
		f := packet.Frag{Ref: page[0], Off: uint32(2*k + 1), Len: uint32(len(b))}
		copy(f.Bytes(), b)
		p.Shared().Frags[k] = f
		p.Len += f.Len
	}
	return i
}

// A packet merged of header-split and linear packets is cut at any size, also
// at one smaller or larger than it was merged with (facts/gro.md G 5, 6, 7).
func TestPieces(t *testing.T) {
	for _, name := range []string{"ip4", "udp6", "vxlan sum"} {
		for _, size := range []int{1000, 950, 999, 23, 2501, 9000} {
			testPieces(t, named(name), size)
		}
	}
}

func testPieces(t *testing.T, s *stack, size int) {
	slab, err := packet.NewSlab(4, mem.Heap)
	if err != nil {
		t.Fatal(err)
	}
	defer slab.Close()
	r, err := mem.Open(mem.Config{Pages: 8, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	head, payload, g, want := large(s, size, 2501)
	// 7 bytes behind the headers and two fragments; a linear packet; one that
	// has linear bytes and fragments.
	at := []int{0, 7, 833, 1700, 1741, 1750, 2500, 2501}
	part := func(i int) []byte { return payload[at[i]:at[i+1]] }
	p := slab.At(newPacket(t, slab, r, append(head, part(0)...), part(1), part(2)))
	linear := newPacket(t, slab, r, part(3))
	both := newPacket(t, slab, r, part(4), part(5), part(6))
	p.Shared().Chain, p.Shared().Last, slab.At(linear).Next = linear, both, both
	p.Len += slab.At(linear).Len + slab.At(both).Len

	var room [8][]byte
	h, pieces := Pieces(slab, p, room[:0])
	checkCut(t, s, h, pieces, g, want)
}
