package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is what a generator sends.
type Kind uint8

const (
	TCP Kind = iota // data segments in order, PSH on the last of a burst
	UDP
	Mix // TCP and UDP flows by turns
)

var kinds = []string{TCP: "tcp", UDP: "udp", Mix: "mix"}

// Config describes generated traffic. The zero value is TCP.
type Config struct {
	Kind  Kind
	Flows int    // 0 means 8
	Size  int    // payload bytes behind TCP or UDP; 0 means what fills the MTU, UDP 512
	Burst int    // frames of one flow in a row; 0 means 16
	IPv6  bool   // of the flows; a tunnel around them is IPv4
	VLAN  int    // tag of every frame, 0 means none
	VXLAN int    // network identifier of a tunnel to UDP port 4789, 0 means none
	MTU   int    // IP bytes a frame may have; 0 means 1500
	Seed  uint64 // of sequence numbers and payload
}

const specKeys = "burst, flows, ipv6, size, vlan, vxlan"

// Parse reads KIND,key=value,... into a Config whose MTU and Seed are the
// caller's to set. An error names the key and lists the valid ones.
func Parse(spec string) (Config, error) {
	var c Config
	name, rest, more := strings.Cut(spec, ",")
	kind := indexOf(kinds, name)
	if kind < 0 {
		return c, fmt.Errorf("gen: no kind %q; kinds are %s", name, strings.Join(kinds, ", "))
	}
	c.Kind = Kind(kind)
	for more {
		var pair string
		pair, rest, more = strings.Cut(rest, ",")
		key, value, given := strings.Cut(pair, "=")
		if err := c.set(key, value, given); err != nil {
			return c, err
		}
	}
	return c, nil
}

func indexOf(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// set takes one key=value; given says that there was an equals sign.
func (c *Config) set(key, value string, given bool) (err error) {
	switch key {
	case "flows":
		c.Flows, err = number(key, value, 1, maxFlows)
	case "size":
		c.Size, err = number(key, value, 1, maxSize)
	case "burst":
		c.Burst, err = number(key, value, 1, 1<<16)
	case "vlan":
		c.VLAN, err = number(key, value, 1, 4094)
	case "vxlan":
		c.VXLAN, err = number(key, value, 1, 1<<24-1)
	case "ipv6":
		if !given {
			value = "true" // the key alone says it
		}
		if c.IPv6, err = strconv.ParseBool(value); err != nil {
			err = fmt.Errorf("gen: ipv6=%s: want true or false", value)
		}
	default:
		err = fmt.Errorf("gen: no key %q; keys are %s", key, specKeys)
	}
	return err
}

func number(key, value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("gen: %s=%s: want a whole number from %d to %d",
			key, value, least, most)
	}
	return n, nil
}

const (
	maxFlows = 1 << 16
	maxSize  = 65535
)

// withDefaults fills c and checks that its frames fit the MTU.
func (c Config) withDefaults() (Config, error) {
	c.Flows = orDefault(c.Flows, 8)
	c.Burst = orDefault(c.Burst, 16)
	c.MTU = orDefault(c.MTU, 1500)
	for _, tcp := range c.protocols() {
		l := c.layout(tcp)
		room, want := c.room(l), max(c.Size, 1)
		if want > room {
			return c, fmt.Errorf("gen: an MTU of %d has no room for %d bytes of payload behind "+
				"%d of headers; give a smaller size or --mtu %d",
				c.MTU, want, c.MTU-room, c.MTU-room+want)
		}
	}
	return c, nil
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// protocols lists what the flows are by turns: true is TCP.
func (c *Config) protocols() []bool {
	return [][]bool{TCP: {true}, UDP: {false}, Mix: {true, false}}[c.Kind]
}

// size is the payload of a flow's frames.
func (c *Config) size(l layout) int {
	if c.Size != 0 {
		return c.Size
	}
	if !l.tcp {
		return min(512, c.room(l))
	}
	return c.room(l)
}

// room is the payload that the MTU leaves.
func (c *Config) room(l layout) int { return c.MTU - (l.bytes - l.link) }
