package nic_test

import (
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
)

func ExampleDevice_Set() {
	d, err := nic.New(nic.Config{On: nic.Timestamp}, dma.New(dma.Config{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Set(nic.Compress, true))
	for _, f := range d.Features() {
		fmt.Println(f.Feature, f.Requested, f.Active)
	}
	// Output:
	// nic: rx_cqe_compress excludes hw-timestamp (one for a session); turn hw-timestamp off first
	// rx-checksumming true true
	// rxhash true true
	// rx-vlan-hw-parse true true
	// lro false false
	// rx_cqe_compress false false
	// hw-timestamp true true
	// tso true true
	// tx-udp-segmentation true true
	// tx-checksumming true true
	// tx-vlan-hw-insert true true
}

// Frames sent into one end of a cable arrive at the device at the other end.
// This one has no queue, so it drops and counts them.
func ExampleNewCable() {
	d, err := nic.New(nic.Config{}, dma.New(dma.Config{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	here, there, err := nic.NewCable(16)
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Plug(there)
	here.Send(nic.Frame{Data: make([]byte, 60)})
	taken := d.Step(0)
	s := d.Stats()
	fmt.Println(taken, s.RxPacketsPhy, s.RxIfDownPackets, s.Unaccounted())
	// Output: 1 1 1 0
}

// A device whose cable ends at itself receives what it sends; with PlugOut at
// one device and Plug at another the frames go from the one to the other.
func ExampleDevice_PlugOut() {
	if err := loopback(); err != nil {
		fmt.Println(err)
	}
	// Output: sent 1, received 1, completed WQE 0
}

func loopback() error {
	memory, err := mem.Open(mem.Config{Pages: 1, Kind: mem.Heap})
	if err != nil {
		return err
	}
	defer memory.Close()
	dom := dma.New(dma.Config{})
	iova, err := dom.Map(memory.Ref(0))
	if err != nil {
		return err
	}
	d, err := nic.New(nic.Config{}, dom)
	if err != nil {
		return err
	}
	out, in, err := nic.NewCable(16)
	if err != nil {
		return err
	}
	d.PlugOut(out)
	d.Plug(in)

	cq, err := desc.NewCQ(6, desc.CompressNone, desc.MiniCSum)
	if err != nil {
		return err
	}
	sq, err := desc.NewSQ(6, 1, cq)
	if err != nil {
		return err
	}
	if _, err := d.AddSQ(sq); err != nil {
		return err
	}
	sq.Modify(desc.Reset, desc.Ready)

	wqe := sq.At(0)
	wqe.Control().Set(0, desc.SendFrame, sq.Number, 3)
	wqe.Control().Complete()
	wqe.Eth().Set(0, 0)
	wqe.Data(2).Set(60, 0x200, iova)
	sq.Producer.Ring(1)
	d.Step(0)

	s, done := d.Stats(), cq.At(0).Own()
	if done.ReadyIn(cq.Lap(0)) {
		fmt.Printf("sent %d, received %d, completed WQE %d\n",
			s.TxPacketsPhy, s.RxPacketsPhy, done.WQECounter())
	}
	return nil
}
