package main

import (
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/millrace-net/millrace/header"
)

// lengths: where do the headers of a frame end?
func lengths() []*contest {
	frames := burst(128, 128)
	var sink int
	ours := func() int {
		for _, f := range frames {
			sink += header.Length(header.LinkEthernet, f)
		}
		return 0
	}
	var (
		eth     layers.Ethernet
		ip      layers.IPv4
		tcp     layers.TCP
		payload gopacket.Payload
		decoded []gopacket.LayerType
	)
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip, &tcp, &payload)
	theirs := func() int {
		for _, f := range frames {
			if parser.DecodeLayers(f, &decoded) == nil {
				sink += len(f) - len(payload)
			}
		}
		return 0
	}
	return []*contest{{"header length, Ethernet/IPv4/TCP", "frame", []*entry{
		{who: "millrace header.Length", units: len(frames), run: ours},
		{who: "gopacket DecodingLayerParser", units: len(frames), run: theirs},
		{who: "DPDK rte_net_get_ptype", ask: "ptype"},
	}}}
}
