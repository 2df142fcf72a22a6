package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/tx"
)

// settings are what --set takes, by the names of ethtool -K, -G and
// --set-priv-flags.
var settings = map[string]func(c *port.Config, value string) error{
	"rx": size(func(c *port.Config) *int { return &c.RX.Entries },
		"the ring size in frames, a power of two"),
	"gro": onOff(func(c *port.Config, on bool) {
		c.NoGRO = !on
	}),
	"lro": onOff(func(c *port.Config, on bool) {
		c.RX.Offloads.LRO = on
	}),
	"rx-udp-gro-forwarding": onOff(func(c *port.Config, on bool) {
		c.GRO.UDP = on
	}),
	"rx-checksumming": onOff(func(c *port.Config, on bool) {
		feature(c, nic.Checksum, on)
		c.RX.Offloads.Checksum = rx.ChecksumComplete
		if !on {
			c.RX.Offloads.Checksum = rx.ChecksumOff
		}
	}),
	"rxhash": onOff(func(c *port.Config, on bool) {
		feature(c, nic.Hash, on)
	}),
	"rx-vlan-hw-parse": onOff(func(c *port.Config, on bool) {
		feature(c, nic.VLANStrip, on)
		c.RX.Offloads.KeepVLAN = !on
	}),
	"hw-timestamp": onOff(func(c *port.Config, on bool) {
		c.RX.Offloads.Timestamps = on
	}),
	"rx-usecs":  moderation(receives, usecs),
	"rx-frames": moderation(receives, frameCount),
	"tx-usecs":  moderation(transmits, usecs),
	"tx-frames": moderation(transmits, frameCount),
	"tx": size(func(c *port.Config) *int { return &c.TX.Blocks },
		"the ring size in blocks of 64 bytes, a power of two"),
	"tx-copybreak":     setCopybreak,
	"tx-copybreak-way": setCopybreakWay,
	"tx-copybreak-buf-size": size(func(c *port.Config) *int { return &c.TX.BufBytes },
		"the size of a premapped buffer in bytes, a power of two"),
	"tso":                 device(nic.TSO),
	"tx-udp-segmentation": device(nic.USO),
	"tx-checksumming":     device(nic.TxChecksum),
	"tx-vlan-hw-insert":   device(nic.VLANInsert),
	"skb_tx_mpwqe": onOff(func(c *port.Config, on bool) {
		c.TX.Without |= tx.MultiPacket
		if on {
			c.TX.Without &^= tx.MultiPacket
		}
	}),
	"rx_cqe_compress": onOff(func(c *port.Config, on bool) {
		c.RX.Offloads.Compression = desc.CompressNone
		if on {
			c.RX.Offloads.Compression = desc.CompressEnhanced
		}
	}),
	"rx_striding_rq": onOff(func(c *port.Config, on bool) {
		c.RX.Type = rx.Cyclic
		if on {
			c.RX.Type = rx.Striding
		}
	}),
}

// otherNames are further names that ethtool has for a setting.
var otherNames = map[string]string{
	"generic-receive-offload": "gro",
	"large-receive-offload":   "lro",
	"receive-hashing":         "rxhash",
	"rx-vlan-offload":         "rx-vlan-hw-parse",
	"rxvlan":                  "rx-vlan-hw-parse",

	"tcp-segmentation-offload": "tso",
	"tx-tcp-segmentation":      "tso",
	"tx-vlan-offload":          "tx-vlan-hw-insert",
	"txvlan":                   "tx-vlan-hw-insert",
}

// absent are settings of ethtool that a later version may have.
var absent = []string{"rx-gro-hw", "tcp-data-split"}

// apply carries out the name=value pairs of --set in their order.
func apply(c *port.Config, pairs []string) error {
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("--set %s: want name=value", pair)
		}
		if long, known := otherNames[name]; known {
			name = long
		}
		set, known := settings[name]
		if slices.Contains(absent, name) {
			return fmt.Errorf("--set %s: the software NIC has no %s; names are %s",
				pair, name, settingNames())
		}
		if !known {
			return fmt.Errorf("--set %s: no setting %q; names are %s", pair, name, settingNames())
		}
		if err := set(c, value); err != nil {
			return fmt.Errorf("--set %s: %w", pair, err)
		}
	}
	return nil
}

func settingNames() string {
	return strings.Join(slices.Sorted(maps.Keys(settings)), ", ")
}

// size is a setting that is a number other than 0; who reads it knows its limits.
func size(field func(*port.Config) *int, want string) func(*port.Config, string) error {
	return func(c *port.Config, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n == 0 {
			return errors.New("want " + want)
		}
		*field(c) = n
		return nil
	}
}

// moderation is a setting of ethtool -C. The other one of its direction keeps
// its default.
func moderation(of func(*port.Config) *desc.Moderation, field func(*desc.Moderation) *int) func(
	*port.Config, string) error {
	return func(c *port.Config, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("want a number")
		}
		m := of(c)
		if *m == (desc.Moderation{}) {
			*m = desc.DefaultModeration
		}
		*field(m) = n
		return nil
	}
}

func receives(c *port.Config) *desc.Moderation  { return &c.Wait.RX }
func transmits(c *port.Config) *desc.Moderation { return &c.Wait.TX }
func usecs(m *desc.Moderation) *int             { return &m.Usecs }
func frameCount(m *desc.Moderation) *int        { return &m.Frames }

// setCopybreak takes bytes, or auto. Unless tx-copybreak-way says otherwise,
// short packets are copied to premapped buffers.
func setCopybreak(c *port.Config, value string) error {
	if value == "auto" {
		c.TX.Copybreak = tx.Copybreak{Auto: true}
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("want the longest packet to be copied, in bytes, or auto")
	}
	c.TX.Copybreak.Bytes, c.TX.Copybreak.Auto = n, false
	if c.TX.Copybreak.Way == tx.Mapped && n > 0 {
		c.TX.Copybreak.Way = tx.Premapped
	}
	return nil
}

func setCopybreakWay(c *port.Config, value string) error {
	names := []string{}
	for way := range tx.Way(len(tx.Stats{}.Ways)) {
		if names = append(names, way.String()); value == way.String() {
			c.TX.Copybreak.Way = way
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.Join(names, ", "))
}

// iommuMode finds the mode of package dma with this name; none is the first.
func iommuMode(name string) (dma.Mode, error) {
	for m := range dma.NumModes {
		if m.String() == name || name == "" {
			return m, nil
		}
	}
	return 0, fmt.Errorf("--iommu %s: want one of %s", name, iommuModes())
}

func iommuModes() string {
	var names []string
	for m := range dma.NumModes {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// device is a switch of a feature of the device that is on by default.
func device(f nic.Feature) func(*port.Config, string) error {
	return onOff(func(c *port.Config, on bool) { feature(c, f, on) })
}

func onOff(set func(*port.Config, bool)) func(*port.Config, string) error {
	return func(c *port.Config, value string) error {
		switch value {
		case "on":
			set(c, true)
		case "off":
			set(c, false)
		default:
			return errors.New("want on or off")
		}
		return nil
	}
}

// feature switches a feature of the device that is on by default.
func feature(c *port.Config, f nic.Feature, on bool) {
	c.NIC.Off |= f
	if on {
		c.NIC.Off &^= f
	}
}
