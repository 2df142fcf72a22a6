package vnet_test

import (
	"fmt"

	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/vnet"
)

// A guest writes a packet of 3000 bytes to its TAP: header, then frame.
func ExampleHeader_Parse() {
	read := make([]byte, 10+54+3000)
	copy(read, []byte{1, 1, 54, 0, 0xb0, 4, 34, 0, 16, 0}) // NEEDS_CSUM, TCPV4, 1200, 34, 16
	copy(read[10+12:], []byte{8, 0, 0x45, 23 - 12: 6})
	read[10+34+12] = 0x50

	hdr, frame := (*vnet.Header)(read), read[10:]
	g, err := hdr.Parse(header.LinkEthernet, frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	bufs, sizes := make([][]byte, g.Segs), make([]int, g.Segs)
	for i := range bufs {
		bufs[i] = make([]byte, int(g.HdrLen+g.Size))
	}
	n, err := gso.Cut(header.LinkEthernet, frame, nil, g, bufs, sizes)
	fmt.Println(n, sizes, err)

	hdr.SetCSumOffset(6)
	_, err = hdr.Parse(header.LinkEthernet, frame)
	fmt.Println(err)
	// Output:
	// 3 [1254 1254 654] <nil>
	// vnet: csum_offset is 6, want 16
}
