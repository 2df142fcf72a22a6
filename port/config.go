package port

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/tx"
	"github.com/millrace-net/millrace/xdp"
)

// Config describes a port on the software NIC. The zero value works: one
// queue, MTU 1500, GRO on.
type Config struct {
	Queues int        // receive queues, 1 to 64; 0 means 1
	Budget int        // most completions in a poll; 0 means 64 (NAPI_POLL_WEIGHT)
	NIC    nic.Config // the device
	RX     rx.Config  // each queue; Queue is filled in
	GRO    gro.Config
	NoGRO  bool      // hand packets over as they arrive
	TX     tx.Config // each transmit queue; NIC and RX say Number, MTU, VXLAN, MinInline
	DMA    dma.Config
	Wait   Coalesce // how events are moderated while Run sleeps

	// Where verdict Redirect of an XDP program (RX.XDP) sends frames, by index;
	// nil means the send queues of the port, each by the number of its receive
	// queue. Send queues in the list are driven by the goroutine of Run.
	Redirect []xdp.Target
}

const (
	defaultBudget = 64
	maxBudget     = 4096
	maxQueues     = 64
)

func (c Config) withDefaults() (Config, error) {
	if c.Queues == 0 {
		c.Queues = 1
	}
	if c.Queues < 0 || c.Queues > maxQueues {
		return c, fmt.Errorf("port: Queues is %d, want 1 to %d", c.Queues, maxQueues)
	}
	if c.Budget == 0 {
		c.Budget = defaultBudget
	}
	if c.Budget < 0 || c.Budget > maxBudget {
		return c, fmt.Errorf("port: Budget is %d, want 1 to %d", c.Budget, maxBudget)
	}
	if c.RX.Offloads.Compression == desc.CompressEnhanced && c.Budget < desc.MaxMinis {
		return c, fmt.Errorf("port: Budget is %d, want at least %d: "+
			"an enhanced compressed completion brings up to %[2]d packets and is never split",
			c.Budget, desc.MaxMinis)
	}
	if c.RX.XDP.Program != nil && c.NIC.On&nic.LRO != 0 {
		return c, errors.New("port: lro and an XDP program exclude each other: " +
			"turn one of them off")
	}
	c.NIC.On |= c.wanted()
	c.TX.Without |= c.missing()
	c.TX.MTU, c.TX.VXLAN, c.TX.MinInline = c.RX.MTU, c.NIC.VXLAN, c.NIC.MinInline
	return c, nil
}

// missing is what the device cannot do for the transmit queues.
func (c Config) missing() (o tx.Offload) {
	on := (nic.DefaultFeatures | c.NIC.On) &^ c.NIC.Off
	for f, offload := range map[nic.Feature]tx.Offload{
		nic.TSO: tx.TSO, nic.USO: tx.UDPSegmentation,
		nic.TxChecksum: tx.Checksum, nic.VLANInsert: tx.VLANInsert,
	} {
		if on&f == 0 {
			o |= offload
		}
	}
	return o
}

// wanted is what the queues need of the device: a wish of the driver is a
// wish of both.
func (c Config) wanted() nic.Feature {
	f := nic.Feature(0)
	if c.RX.Offloads.LRO {
		f |= nic.LRO
	}
	if c.RX.Offloads.Compression != desc.CompressNone {
		f |= nic.Compress
	}
	if c.RX.Offloads.Timestamps {
		f |= nic.Timestamp
	}
	return f
}
