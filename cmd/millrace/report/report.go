package report

import (
	"time"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/rx"
)

// Ethernet puts preamble and start delimiter (8), frame check sequence (4) and
// the gap between frames (12) around each frame (IEEE 802.3).
const wireBytes = 24

// A Run says what was run.
type Run struct {
	From     string        `json:"from"`
	To       string        `json:"to"`
	MTU      int           `json:"mtu_bytes"`
	Queues   int           `json:"queues"`
	Seed     uint64        `json:"seed"`
	Duration time.Duration `json:"duration_ns"`
}

// A Report is what a run did.
type Report struct {
	Run
	Packets   uint64   `json:"rx_packets"` // frames that arrived
	BytesL2   uint64   `json:"rx_bytes_l2"`
	BytesWire uint64   `json:"rx_bytes_wire"`
	Rates     Rates    `json:"rates"`
	Delivered Counts   `json:"delivered"`
	Cost      Cost     `json:"ns_per_packet"`
	XDP       *XDP     `json:"xdp,omitempty"`
	GRO       GRO      `json:"gro"`
	TX        *TX      `json:"tx,omitempty"` // null: nothing was sent
	Drops     []Reason `json:"drops"`
	Pool      Pool     `json:"pool"`
	Imbalance []string `json:"imbalance"` // empty: the books balance
	Balanced  bool     `json:"balanced"`

	Counters Counters `json:"counters,omitempty"`
}

// Rates are those of arrival.
type Rates struct {
	Packets  float64 `json:"rx_packets_per_second"`
	BitsL2   float64 `json:"rx_bits_per_second_l2"`
	BitsWire float64 `json:"rx_bits_per_second_wire"`
}

// Counts are what the handler was given.
type Counts struct {
	Packets  uint64 `json:"packets"` // a merged one is one
	Segments uint64 `json:"segments"`
	BytesL2  uint64 `json:"bytes_l2"` // merged headers once
}

// Cost is the time of each stage for a frame that arrived.
type Cost struct {
	Device  float64 `json:"device"`
	RX      float64 `json:"rx"`
	GRO     float64 `json:"gro"`
	Handler float64 `json:"handler"`
	TX      float64 `json:"tx"`
	Total   float64 `json:"total"`
}

// XDP says what an XDP program made of frames before the device got them.
type XDP struct {
	Program  string   `json:"program"`
	Packets  uint64   `json:"packets_in"`
	Outcomes []Reason `json:"outcomes"` // verdicts, and why it was not run
	Notes    []string `json:"notes"`
}

// GRO says how much was merged, and why the rest was not.
type GRO struct {
	On       bool     `json:"on"`
	Packets  uint64   `json:"packets_in"`
	Merged   uint64   `json:"merged"`
	ByFrags  uint64   `json:"merged_by_frags"` // pages moved to the fragments
	ByChain  uint64   `json:"merged_by_chain"` // whole packets chained
	Evicted  uint64   `json:"evicted"`         // completed for lack of room in the table
	Ratio    float64  `json:"segments_per_packet"`
	Refusals []Reason `json:"not_merged"`
}

// A Reason counts packets.
type Reason struct {
	Text    string `json:"reason"`
	Packets uint64 `json:"packets"`
}

// Pool is where the pages are, and what the page pools did.
type Pool struct {
	Pages    int    `json:"pages"`
	Free     int    `json:"pages_free"`
	Posted   int    `json:"pages_posted"` // waiting ones included
	Held     int    `json:"pages_held"`
	Allocs   uint64 `json:"page_allocs"`
	Slow     uint64 `json:"page_allocs_slow"` // not from what was recycled
	Recycled uint64 `json:"pages_recycled"`
}

// New makes the report of a run from the last counts of its port.
func New(run Run, s *port.Stats, groOn bool) *Report {
	frames, bytes := s.Device.RxPacketsPhy, s.Device.RxBytesPhy
	r := &Report{
		Run: run, Packets: frames, BytesL2: bytes, BytesWire: bytes + frames*wireBytes,
		Delivered: Counts{s.Packets, s.Segments, s.Bytes},
		Cost:      cost(s, frames),
		Drops:     drops(s), Imbalance: imbalance(s),
	}
	if sec := run.Duration.Seconds(); sec > 0 {
		r.Rates = Rates{float64(frames) / sec, float64(bytes) * 8 / sec,
			float64(r.BytesWire) * 8 / sec}
	}
	r.Balanced = len(r.Imbalance) == 0
	r.GRO, r.TX = merging(s, groOn), sending(s)
	for i := range s.Queues {
		r.Pool.add(&s.Queues[i].Books, &s.Queues[i].RX.Pool)
	}
	return r
}

func cost(s *port.Stats, frames uint64) Cost {
	if frames == 0 {
		return Cost{}
	}
	n, t := float64(frames), s.Stages
	c := Cost{Device: float64(t.Device) / n, RX: float64(t.RX) / n, GRO: float64(t.GRO) / n,
		Handler: float64(t.Handler) / n, TX: float64(t.TX) / n}
	c.Total = c.Device + c.RX + c.GRO + c.Handler + c.TX
	return c
}

func merging(s *port.Stats, on bool) GRO {
	g := GRO{On: on, Refusals: []Reason{}}
	var reasons [gro.NumReasons]uint64
	for i := range s.Queues {
		q := &s.Queues[i].GRO
		g.Packets += q.Packets
		g.Merged += q.Merged
		g.ByFrags += q.ByFrags
		g.ByChain += q.ByChain
		g.Evicted += q.Evicted
		for r, n := range q.Reasons {
			reasons[r] += n
		}
	}
	for r, n := range reasons {
		if n > 0 {
			g.Refusals = append(g.Refusals, Reason{gro.Reason(r).String(), n})
		}
	}
	if s.Packets > 0 {
		g.Ratio = float64(s.Segments) / float64(s.Packets)
	}
	return g
}

// drops lists what ended frames and packets, from wire to wire.
func drops(s *port.Stats) []Reason {
	d := &s.Device
	list := []Reason{
		{"no buffer was posted (rx_out_of_buffer)", d.RxOutOfBuffer},
		{"no bytes at all (rx_undersize_pkts_phy)", d.RxUndersizePktsPhy},
		{"longer than a buffer holds (rx_oversize_pkts_phy)", d.RxOversizePktsPhy},
		{"queue down (rx_if_down_packets)", d.RxIfDownPackets},
		{"completion queue full (rx_cq_overrun)", d.RxCQOverrun},
		{"lost in a queue reset (rx_lost)", d.RxLost},
	}
	counts := s.Drops
	for i := range s.Queues {
		for reason, n := range s.Queues[i].RX.Drops {
			counts[reason] += n
		}
	}
	list = append(list, Reason{"lost in a send queue reset", sendDrops(s, &counts)})
	for reason, n := range counts {
		list = append(list, Reason{packet.Drop(reason).String(), n})
	}
	kept := list[:0]
	for _, r := range list {
		if r.Packets > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

func (p *Pool) add(b *rx.Books, s *pagepool.Stats) {
	p.Pages += b.Total
	p.Free += b.Free
	p.Posted += b.Posted + b.Waiting + b.Filler
	p.Held += b.Held
	p.Allocs += s.AllocFast + s.AllocRefill + s.AllocSlow + s.AllocSlowHighOrder
	p.Slow += s.AllocSlow + s.AllocSlowHighOrder
	p.Recycled += s.RecycleCached + s.RecycleRing
}

// offered is what the device gave the queues: frames that it merged are one.
func offered(d *nic.Stats) uint64 {
	return d.RxDelivered + d.RxErrors + d.RxSpoilt - d.LROPackets + d.LROAggregates
}
