package main

import (
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

const strideBytes = 2048

// packets merges packets of a receive queue, each in its stride, as the linear
// path builds them.
func packets(flows, n int) *entry {
	s := newStrides(burst(flows, n))
	table, err := gro.New(gro.Config{}, s.slab)
	if err != nil {
		panic(err)
	}
	e := &entry{who: "millrace gro.Table, packets", sums: "known", copies: "no", units: n}
	e.prepare = s.receive
	e.run = func() int {
		table.Receive(s.in, s.out)
		table.Flush(s.out)
		return s.out.Len()
	}
	return e
}

// strides is what a receive queue would own.
type strides struct {
	frames  [][]byte
	slab    *packet.Slab
	pages   []mem.Ref
	in, out *packet.Batch
}

func newStrides(frames [][]byte) *strides {
	slab, err := packet.NewSlab(len(frames), mem.Auto)
	if err != nil {
		panic(err)
	}
	region, err := mem.Open(mem.Config{PageBytes: strideBytes, Pages: len(frames)})
	if err != nil {
		panic(err)
	}
	s := &strides{frames: frames, slab: slab, pages: make([]mem.Ref, len(frames))}
	region.Alloc(s.pages)
	for i, f := range frames {
		copy(s.pages[i].Bytes(packet.HeadRoom, uint32(len(f))), f)
	}
	s.in, s.out = packet.NewBatch(slab, len(frames)), packet.NewBatch(slab, 2*len(frames))
	return s
}

// receive takes the last output back and fills in again.
func (s *strides) receive() {
	for i := range s.out.Len() {
		for k := s.out.At(i).Shared().Chain; k != 0; {
			next := s.slab.At(k).Next
			s.slab.Free(k)
			k = next
		}
		s.slab.Free(s.out.Index(i))
	}
	s.out.Reset()
	for i, f := range s.frames {
		k := s.slab.Get()
		p := s.slab.At(k)
		*p = packet.Packet{Head: s.pages[i], Data: packet.HeadRoom, Linear: uint32(len(f)),
			Room: strideBytes - packet.SharedBytes, Len: uint32(len(f)), Truesize: strideBytes,
			CSumKind: packet.CSumValid, HeadKind: packet.HeadPage, Link: header.LinkEthernet}
		*p.Shared() = packet.SharedInfo{}
		copy(p.Bytes(), f[:headLen])
		s.in.Add(k)
	}
}
