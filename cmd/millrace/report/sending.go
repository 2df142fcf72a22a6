package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/tx"
)

// TX says what was sent, and how it reached the device.
type TX struct {
	Copybreak string   `json:"tx_copybreak"` // in force: way and bytes
	Why       string   `json:"why,omitempty"`
	Posted    uint64   `json:"packets_posted"` // a merged one is one
	Packets   uint64   `json:"tx_packets"`     // frames made of them
	BytesL2   uint64   `json:"tx_bytes_l2"`
	Cut       uint64   `json:"tso_packets"`      // cut by the device
	Software  uint64   `json:"software_packets"` // cut or summed by the CPU
	Ways      []Reason `json:"ways"`
	Doorbells uint64   `json:"doorbells"`
	Stops     uint64   `json:"queue_stopped"`
	Lost      uint64   `json:"packets_lost"`
}

// sending is nil where nothing was sent.
func sending(s *port.Stats) *TX {
	x := &TX{}
	var ways [len(tx.Stats{}.Ways)]uint64
	for i := range s.Queues {
		q := &s.Queues[i].TX
		x.Posted += q.Posted
		x.Packets += q.Packets
		x.BytesL2 += q.Bytes
		x.Cut += q.TSO.Packets + q.TSOInner.Packets
		x.Software += q.Software.Packets
		x.Doorbells += q.Doorbells
		x.Stops += q.Stopped
		x.Lost += q.Lost
		for way := range ways {
			ways[way] += q.Ways[way].Packets
		}
	}
	if x.Posted == 0 {
		return nil
	}
	x.Copybreak, x.Why = s.Queues[0].Sends.InForce.String(), s.Queues[0].Sends.Why
	for way, n := range ways {
		if n > 0 {
			x.Ways = append(x.Ways, Reason{tx.Way(way).String(), n})
		}
	}
	return x
}

func (x *TX) table(w io.Writer) {
	if x == nil {
		return
	}
	fmt.Fprintf(w, "sent        %d packets in %d frames, %s L2, %d doorbells, %d stop%s\n",
		x.Posted, x.Packets, rate(float64(x.BytesL2), "B"), x.Doorbells, x.Stops,
		plural(int(x.Stops)))
	list := []string{}
	for _, way := range x.Ways {
		list = append(list, fmt.Sprintf("%d %s", way.Packets, way.Text))
	}
	if x.Cut > 0 {
		list = append(list, fmt.Sprintf("%d cut by the device", x.Cut))
	}
	if x.Software > 0 {
		list = append(list, fmt.Sprintf("%d cut or summed in software", x.Software))
	}
	fmt.Fprintf(w, "copybreak   %s: %s\n", x.Copybreak, strings.Join(list, ", "))
	if x.Why != "" {
		fmt.Fprintln(w, "            ", x.Why)
	}
}

// sendBooks compares what was posted with what left.
func sendBooks(s *port.Stats, differ func(what string, have, want uint64)) {
	var frames, recovers uint64
	for i := range s.Queues {
		q := &s.Queues[i].TX
		name := fmt.Sprintf("queue %d: ", i)
		differ(name+"packets sent or lost", q.Done+q.Lost, q.Posted)
		frames += q.Packets
		recovers += q.Recover
	}
	if recovers == 0 {
		differ("frames that left", s.Device.TxPacketsPhy, frames)
	}
}

// sendDrops adds what the transmit queues refused or lost.
func sendDrops(s *port.Stats, counts *[packet.NumDrops]uint64) (lost uint64) {
	for i := range s.Queues {
		for reason, n := range s.Queues[i].TX.Drops {
			counts[reason] += n
		}
		lost += s.Queues[i].TX.Lost
	}
	return lost
}
