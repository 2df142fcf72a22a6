// Package nic is the device side of desc: a software NIC that receives and
// sends as a ConnectX card does (facts/mlx5e.md, docs/device.md).
//
//	Wire -> port -> label -> queue by hash -> (LRO) -> WQE -> completion
//	         |        |                                 |         |
//	      faults   types, verdict,               dma.Reach    compressed,
//	               sum, hash, tag                             published last
//
//	cable <- tag, sums <- bytes or segments <- dma.Reach <- copy of WQE <- ring
//
// A Device has no goroutine and no clock: Step takes a burst of frames from
// its wire, writes them into memory that the driver posted, and at its end
// hands the completions over. Wires lend frames; the device copies them. The
// device owns posted WQEs and unconsumed entries of the CQ only between Enter
// and Leave of their queue, that is during a Step, so a driver on another
// goroutine may reset the queue between two Steps.
//
// Every frame that arrives ends in exactly one counter of Stats, also when
// Config.Faults makes the wire, the device or the contract fail: everything
// random comes from Config.Seed.
//
// The trap: completions appear at the end of a Step, not frame by frame, and
// with hw-timestamp off, which is the default, they carry no time.
package nic
