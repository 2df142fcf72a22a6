package gso_test

import (
	"fmt"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// datagram is an IPv4 packet with TCP: 3000 bytes for a TUN device, whose
// headers are only as good as the sender of large packets makes them.
func datagram() (b []byte, g packet.GSO) {
	b = make([]byte, 3040)
	copy(b, []byte{0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	copy(b[20:], []byte{0, 80, 0, 80, 0, 0, 0, 0, 0, 0, 0, 1, 0x50, 0x18, 1, 0})
	g = packet.GSO{Type: packet.GSOTCPv4, Size: 1200, HdrLen: 40, CSumStart: 20, CSumOffset: 16}
	return b, g
}

func ExampleCut() {
	large, g := datagram()
	bufs, sizes := make([][]byte, 64), make([]int, 64)
	for i := range bufs {
		bufs[i] = make([]byte, 1500)
	}
	n, err := gso.Cut(header.LinkRaw, large, nil, g, bufs, sizes)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range n {
		h := header.TCPAt(bufs[i], 20)
		fmt.Printf("%d bytes, seq %d, flags %#x\n", sizes[i], h.Seq(), h.Flags())
	}
	// Output:
	// 1240 bytes, seq 0, flags 0x10
	// 1240 bytes, seq 1200, flags 0x10
	// 640 bytes, seq 2400, flags 0x18
}

// What a Merger made of frames is cut back into them, a buffer at a time.
func ExampleSegmenter() {
	large, g := datagram()
	m, err := gro.NewMerger(gro.Config{Link: header.LinkRaw})
	if err != nil {
		fmt.Println(err)
		return
	}
	var s gso.Segmenter
	if err := s.Start(header.LinkRaw, large, nil, g); err != nil {
		fmt.Println(err)
		return
	}
	for s.Left() > 0 {
		frame := make([]byte, s.Need())
		s.Next(frame)
		m.Add(frame)
	}
	for a := range m.Flush() {
		fmt.Printf("merged: %d bytes in %d slices\n", a.Len(), 1+len(a.Payload()))
		if err := s.Start(header.LinkRaw, a.Header(), a.Payload(), a.GSO()); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("cut again: %d frames, the first of %d bytes\n", s.Left(), s.Need())
	}
	// Output:
	// merged: 3040 bytes in 4 slices
	// cut again: 3 frames, the first of 1240 bytes
}
