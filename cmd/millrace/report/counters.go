package report

import (
	"fmt"
	"io"

	"github.com/millrace-net/millrace/port"
)

// Counters are those of "ethtool -S", in its order when printed.
type Counters []Counter

// A Counter has ethtool's name: rx_NAME is the sum over the queues, rx0_NAME
// that of queue 0.
type Counter struct {
	Name  string
	Value uint64
}

// AllCounters are the counters of device and queues.
func AllCounters(s *port.Stats) (list Counters) {
	at := map[string]int{}
	add := func(sum string, value uint64) {
		if _, known := at[sum]; !known {
			at[sum] = len(list)
			list = append(list, Counter{Name: sum})
		}
		list[at[sum]].Value += value
	}
	for i := range s.Queues {
		for name, value := range s.Queues[i].RX.Ethtool() {
			add("rx_"+name, value)
		}
	}
	for i := range s.Queues {
		for name, value := range s.Queues[i].TX.Ethtool() {
			add(sent(name), value)
		}
	}
	add("ch_events", s.Events)
	add("ch_poll", s.Polls)
	add("ch_arm", s.Arms)
	for name, value := range s.Device.Ethtool() {
		if _, known := at[name]; !known {
			list = append(list, Counter{name, value})
		}
	}
	for i := range s.Queues {
		for name, value := range s.Queues[i].RX.Ethtool() {
			list = append(list, Counter{fmt.Sprintf("rx%d_%s", i, name), value})
		}
		for name, value := range s.Queues[i].TX.Ethtool() {
			list = append(list, Counter{fmt.Sprintf("tx%d_%s", i, name), value})
		}
	}
	return list
}

// sent names the sum of a counter of transmit queues. Those of the queue's state
// say so (facts/mlx5e.md 11.2).
func sent(name string) string {
	switch name {
	case "stopped", "wake", "dropped":
		return "tx_queue_" + name
	}
	return "tx_" + name
}

// MarshalJSON writes one object.
func (c Counters) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%d", x.Name, x.Value)
	}
	return append(b, '}'), nil
}

func (c Counters) table(w io.Writer) {
	fmt.Fprintln(w, "counters")
	for _, x := range c {
		fmt.Fprintf(w, "  %-36s %d\n", x.Name, x.Value)
	}
}
