package nic_test

import (
	"fmt"

	"github.com/millrace-net/millrace/dma"
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
