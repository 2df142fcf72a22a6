package vnet

import (
	"testing"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
)

func BenchmarkParse(b *testing.B) {
	frame, h := tcp4(44*1448, 0x18, 1), hdr(1, 1, 1448, 34, 16, 54)
	for b.Loop() {
		if _, err := h.Parse(header.LinkEthernet, frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFor(b *testing.B) {
	segs, err := cut(hdr(1, 1, 1448, 34, 16, 54), tcp4(44*1448, 0x18, 1))
	if err != nil {
		b.Fatal(err)
	}
	var m gro.Merger
	for _, f := range segs {
		m.Add(f)
	}
	for a := range m.Flush() {
		for b.Loop() {
			if h := For(a); h.GSOSize() != 1448 {
				b.Fatalf("header %x", h)
			}
		}
	}
}
