package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/rx"
)

// settings are what --set takes, by the names of ethtool -K, -G and
// --set-priv-flags.
var settings = map[string]func(c *port.Config, value string) error{
	"rx": setRing,
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
}

// absent are settings of ethtool that a later version may have.
var absent = []string{"rx-gro-hw", "tcp-data-split", "tso", "tx-checksumming", "tx-copybreak"}

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

func setRing(c *port.Config, value string) (err error) {
	c.RX.Entries, err = strconv.Atoi(value)
	if err != nil || c.RX.Entries == 0 {
		return errors.New("want the ring size in frames, a power of two")
	}
	return nil
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
