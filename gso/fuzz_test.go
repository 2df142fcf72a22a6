package gso

import (
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// Whatever headers and GSO claim: nothing is read or written outside, and all
// payload comes out in segments of the right size, or an error does.
func FuzzCut(f *testing.F) {
	for i := range stacks {
		s := &stacks[i]
		head, _, g, _ := large(s, 100, 350)
		f.Add(uint8(s.link), head, uint16(350), uint16(g.Size), g.HdrLen, g.CSumStart, g.CSumOffset,
			uint8(g.Type), uint16(g.Flags))
	}
	f.Add(uint8(0), []byte("not marked"), uint16(9), uint16(0), uint16(0), uint16(3), uint16(1),
		uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, link uint8, head []byte, n, size, hdrLen, start, offset uint16,
		typ uint8, flags uint16) {
		if len(head) > 1000 || n > 4000 {
			return
		}
		g := packet.GSO{Size: size, HdrLen: hdrLen, CSumStart: start, CSumOffset: offset,
			Type: packet.GSOType(typ), Flags: packet.GSOFlags(flags)}
		var s Segmenter
		pieces := [][]byte{make([]byte, n/3), nil, make([]byte, n-n/3)}
		err := s.Start(header.LinkType(link), head, pieces, g)
		if err != nil {
			if s.Left() != 0 || s.Need() != 0 {
				t.Fatalf("%v, and %d segments", err, s.Left())
			}
			return
		}
		got, each, want := 0, 0, len(head)+int(n)
		if g.Type != packet.GSONone {
			each, want = int(hdrLen), want-int(hdrLen)
		}
		for left := s.Left(); left > 0; left-- {
			b := make([]byte, s.Need())
			if s.Next(b) != len(b) || each > 0 && len(b) > each+int(size) {
				t.Fatalf("segment of %d bytes of %+v", len(b), g)
			}
			got += len(b) - each
		}
		if got != want || s.Need() != 0 {
			t.Fatalf("%d of %d bytes came out of %+v", got, want, g)
		}
	})
}
