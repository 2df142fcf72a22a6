package port_test

import (
	"fmt"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/xdp"
)

// A program sends ARP back where it came from and drops what is not IP; only
// the rest becomes packets.
func ExampleConfig_xdp() {
	program := func(b *xdp.Buff) xdp.Verdict {
		frame := b.Data()
		if len(frame) < header.EthernetBytes {
			return xdp.Drop
		}
		eth := header.EthernetAt(frame, 0)
		switch eth.Type() {
		case header.TypeARP:
			*eth.Dst(), *eth.Src() = *eth.Src(), *eth.Dst()
			return xdp.Tx
		case header.TypeIPv4, header.TypeIPv6:
			return xdp.Pass
		}
		return xdp.Drop
	}
	p, err := port.Open("nic:", port.Config{
		RX: rx.Config{XDP: xdp.Config{Program: program}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	near, far, _ := nic.NewCable(16)
	p.Plug(near)
	p.PlugOut(near)
	for _, typ := range []uint16{header.TypeARP, header.TypeIPv4, 0x88cc} {
		frame := make([]byte, 60)
		copy(frame, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02")
		header.EthernetAt(frame, 0).SetType(typ)
		far.Send(nic.Frame{Data: frame})
	}
	for range 3 {
		p.Step(func(b *packet.Batch) {
			fmt.Printf("%d packet, type %#x\n", b.Len(), header.EthernetAt(b.Head(0), 0).Type())
		})
	}
	for f := (nic.Frame{}); far.Next(0, &f); {
		fmt.Printf("back to % x\n", f.Data[:6])
	}
	// Output:
	// 1 packet, type 0x800
	// back to 02 00 00 00 00 02
}

// The handler answers pings of a kind and drops the rest.
func ExamplePort_Post() {
	p, err := port.Open("nic:", port.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	near, far, _ := nic.NewCable(16)
	p.Plug(near)
	p.PlugOut(near)
	for _, typ := range []uint16{0x88b5, header.TypeIPv4} {
		frame := make([]byte, 60)
		copy(frame, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02")
		header.EthernetAt(frame, 0).SetType(typ)
		far.Send(nic.Frame{Data: frame})
	}
	for range 3 {
		p.Step(func(b *packet.Batch) {
			for i := range b.Len() {
				eth := header.EthernetAt(b.Head(i), 0)
				if eth.Type() != 0x88b5 {
					b.Drop(i, packet.DropFiltered)
					continue
				}
				*eth.Dst(), *eth.Src() = *eth.Src(), *eth.Dst()
			}
			p.Post(b) // takes what is left
		})
	}
	for f := (nic.Frame{}); far.Next(0, &f); {
		fmt.Printf("%d bytes back to % x\n", len(f.Data), f.Data[:6])
	}
	// Output:
	// 60 bytes back to 02 00 00 00 00 02
}
