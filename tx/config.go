package tx

import (
	"fmt"
	"strings"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
)

// Config describes a send queue. The zero value works.
type Config struct {
	Blocks     int            // ring size, of 64 bytes, a power of two, 64 to 8192; 0: 1024
	MTU        int            // 0 means 1500
	Number     int            // of the queue, 24 bits
	Copybreak  Copybreak      // which packets are copied, and how; the zero value maps all
	BufBytes   int            // of a premapped buffer (tx-copybreak-buf-size), 64 to 2048; 0: 256
	Without    Offload        // what is not left to the device
	MinInline  desc.MinInline // headers that the device wants in the WQE
	VXLAN      []uint16       // UDP ports that the device knows as VXLAN: lent; nil means 4789
	KeptMapped bool           // pages with an I/O address in their Meta stay mapped in the domain
	LimitBytes int            // most bytes in flight; 0 means no limit
	TimeoutNs  int64          // the device does nothing for so long: reset; 0 means 5 s, < 0 never
	Kind       mem.Kind       // of the queue's own buffers
}

// A Way is how the bytes of a packet reach the device.
type Way uint8

const (
	Mapped    Way = iota // the device reads them where they are: a mapping for each piece
	Inline               // they are copied into the WQE
	Premapped            // they are copied into a buffer that is always mapped
	Linearize            // they are copied into memory taken for them, which is mapped
	numWays
)

var wayNames = [numWays]string{"mapped", "inline", "premapped", "linearize"}

func (w Way) String() string {
	if w >= numWays {
		return fmt.Sprintf("tx.Way(%d)", uint8(w))
	}
	return wayNames[w]
}

// copies says that the way copies and does not map.
func (w Way) copies() bool { return w == Inline || w == Premapped }

// A Copybreak says which packets are copied, and how (ethtool's tx-copybreak).
// Those of at most Bytes go by Way, longer ones are mapped. With Premapped, of
// these the linear part in front of fragments is copied still, if it fits a
// buffer: Premapped with 0 copies headers only.
type Copybreak struct {
	Way   Way
	Bytes int
	Auto  bool // Way and Bytes are what is measured to be cheapest (docs/tx.md)
}

func (c Copybreak) String() string {
	if c.Auto {
		return "auto"
	}
	return fmt.Sprintf("%s %d", c.Way, c.Bytes)
}

// Offload is a set of what a device can do.
type Offload uint8

const (
	TSO             Offload = 1 << iota // cut TCP packets into segments
	UDPSegmentation                     // cut UDP packets into datagrams
	Checksum                            // fill in checksums
	VLANInsert                          // insert a VLAN tag
	MultiPacket                         // take many packets in one WQE

	allOffloads Offload = 1<<iota - 1
)

var offloadNames = [...]string{"tso", "tx-udp-segmentation", "tx-checksumming",
	"tx-vlan-hw-insert", "skb_tx_mpwqe"}

// String lists the names that ethtool has for them.
func (o Offload) String() string {
	var names []string
	for i, name := range offloadNames {
		if o>>i&1 != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// Limits in bytes.
const (
	minFrame    = header.EthernetBytes // the shortest frame
	wireMin     = 60                   // that a frame has on the wire at least
	minMTU      = 68                   // RFC 791
	maxMTU      = 65509                // a frame with three tags is 65535
	minBuf      = 64                   // of a premapped buffer
	maxBuf      = 2048                 // of a premapped buffer
	maxLarge    = 524280               // longest packet for the device to cut (GSO_MAX_SIZE)
	linearBytes = 4096                 // of a page that a packet is linearized into
)

const defaultTimeoutNs = 5e9

// withDefaults fills what is zero and checks each field by itself, but for
// those of the ring.
func (c Config) withDefaults() (Config, error) {
	if c.MTU == 0 {
		c.MTU = 1500
	}
	if c.BufBytes == 0 {
		c.BufBytes = 256
	}
	if c.TimeoutNs == 0 {
		c.TimeoutNs = defaultTimeoutNs
	}
	if c.VXLAN == nil {
		c.VXLAN = []uint16{header.PortVXLAN}
	}
	switch {
	case c.MTU < minMTU || c.MTU > maxMTU:
		return c, fmt.Errorf("tx: MTU is %d, want %d to %d", c.MTU, minMTU, maxMTU)
	case c.BufBytes < minBuf || c.BufBytes > maxBuf || c.BufBytes&(c.BufBytes-1) != 0:
		return c, fmt.Errorf("tx: BufBytes is %d, want a power of two, %d to %d",
			c.BufBytes, minBuf, maxBuf)
	case c.Without&^allOffloads != 0:
		return c, fmt.Errorf("tx: Without is %#x, of which %#x is known",
			uint8(c.Without), uint8(allOffloads))
	case c.MinInline > desc.InlineTCPUDP:
		return c, fmt.Errorf("tx: unknown MinInline %d", c.MinInline)
	case c.LimitBytes < 0:
		return c, fmt.Errorf("tx: LimitBytes is %d, want 0 or more", c.LimitBytes)
	}
	return c, nil
}

// offloads is what is left to the device, and why that is less than all but
// Without: a device that fills in no checksum cannot cut, for every segment has
// another one, and a packet that shares its WQE has no headers of its own
// there (facts/mlx5e.md 1.9).
func (c Config) offloads() (o Offload, why string) {
	o = allOffloads &^ c.Without
	if o&Checksum == 0 && o&(TSO|UDPSegmentation) != 0 {
		o &^= TSO | UDPSegmentation
		why = "segmentation needs checksums"
	}
	if c.MinInline != desc.InlineNone && o&MultiPacket != 0 {
		o &^= MultiPacket
		if why != "" {
			why += "; "
		}
		why += "a WQE of many packets has no room for inline headers"
	}
	return o, why
}
