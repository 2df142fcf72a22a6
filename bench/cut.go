package main

import (
	"github.com/tailscale/wireguard-go/tun"

	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// cuts: a large IP packet into segments. Without an Ethernet header, because
// GSOSplit knows none.
func cuts() []*contest {
	const ipHead = headLen - linkLen
	large := frame(0, 0, segs*mss)[linkLen:]
	bufs, sizes := make([][]byte, segs), make([]int, segs)
	for i := range bufs {
		bufs[i] = make([]byte, 2048)
	}
	g := packet.GSO{Type: packet.GSOTCPv4, Size: mss, HdrLen: ipHead, CSumStart: 20, CSumOffset: 16}
	ours := func() int {
		n, err := gso.Cut(header.LinkRaw, large, nil, g, bufs, sizes)
		if err != nil {
			panic(err)
		}
		return n
	}
	o := tun.GSOOptions{GSOType: tun.GSOTCPv4, HdrLen: ipHead, CsumStart: 20, CsumOffset: 16,
		GSOSize: mss}
	theirs := func() int {
		n, err := tun.GSOSplit(large, o, bufs, sizes, 0)
		if err != nil {
			panic(err)
		}
		return n
	}
	return []*contest{{"GSO, 44 x 1448 bytes", "segment", []*entry{
		{who: "millrace gso.Cut", sums: "computes", copies: "yes", units: segs, run: ours},
		{who: "tailscale tun.GSOSplit", sums: "computes", copies: "yes", units: segs, run: theirs},
		{who: "DPDK rte_gso_segment", sums: "left to the card", copies: "no, indirect", ask: "gso"},
	}}}
}
