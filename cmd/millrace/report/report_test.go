package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/port"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/tx"
)

// stats are those of 1000 frames, of which 960 were merged into 60 packets, 30
// dropped by the queue and 10 by the device.
func stats() *port.Stats {
	s := &port.Stats{Packets: 60, Segments: 960, Bytes: 1_400_000}
	s.Stages = port.Stages{Device: 100_000, RX: 50_000, GRO: 40_000, Handler: 10_000, TX: 20_000}
	s.Device = nic.Stats{RxPacketsPhy: 1000, RxBytesPhy: 1_500_000, RxDelivered: 990,
		RxOutOfBuffer: 10}
	q := port.QueueStats{Books: rx.Books{Total: 64, Free: 20, Posted: 40, Waiting: 3, Filler: 1}}
	q.RX.Completions, q.RX.Delivered = 990, 960
	q.RX.Drops[packet.DropOversize] = 30
	q.GRO.Packets, q.GRO.Merged, q.GRO.Out = 960, 900, 60
	q.GRO.ByFrags, q.GRO.ByChain = 890, 10
	q.GRO.Reasons[gro.ReasonFirst] = 60
	q.TX = tx.Stats{Posted: 55, Done: 50, Lost: 5, Packets: 620, Bytes: 900_000, Doorbells: 7,
		Stopped: 2, TSO: tx.Tally{Packets: 35}, Software: tx.Tally{Packets: 1}, Recover: 1}
	q.TX.Ways[tx.Mapped].Packets, q.TX.Ways[tx.Inline].Packets = 15, 4
	q.TX.Drops[packet.DropOversize] = 1
	q.Sends = tx.Effective{InForce: tx.Copybreak{Way: tx.Inline, Bytes: 192}, Why: "measured"}
	s.Device.TxPacketsPhy = 600
	s.Queues = []port.QueueStats{q}
	return s
}

var run = Run{From: "gen:tcp", To: "null", MTU: 1500, Queues: 1, Seed: 7, Duration: time.Second}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := New(run, stats(), true).Table(&b); err != nil {
		t.Fatal(err)
	}
	want := `gen:tcp -> null, 1s, 1 queue, MTU 1500, seed 7
received    1000 frames, 1.50 MB L2: 1.00 kpps, 12.00 Mb/s L2, 12.19 Mb/s wire
delivered   60 packets of 960 frames, 1.40 MB L2
ns a frame  device 100.0   rx 50.0   gro 40.0   handler 10.0   tx 20.0
gro         16.00 frames a packet: 900 merged, 890 by fragments, 10 by chaining
not merged  60
            60  first of its flow
sent        55 packets in 620 frames, 900.00 kB L2, 7 doorbells, 2 stops
copybreak   inline 192: 15 mapped, 4 inline, 35 cut by the device, 1 cut or summed in software
             measured
dropped     46
            10  no buffer was posted (rx_out_of_buffer)
             5  lost in a send queue reset
            31  longer than the MTU allows
pool        64 pages: 20 free, 44 posted, 0 held; 0 allocations, 0 of them slow, 0 recycled
books       balance: received = delivered + dropped, all buffers home
`
	if b.String() != want {
		t.Errorf("have\n%swant\n%s", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	r := New(run, stats(), true)
	r.Counters = AllCounters(stats())
	var b bytes.Buffer
	if err := r.JSON(&b); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%q, %v", b.String(), err)
	}
	var have struct {
		Duration  int64 `json:"duration_ns"`
		BytesWire int   `json:"rx_bytes_wire"`
		Cost      struct {
			Total float64 `json:"total"`
		} `json:"ns_per_packet"`
		Drops []struct {
			Reason  string
			Packets int
		}
		TX struct {
			Frames int `json:"tx_packets"`
		}
		Balanced bool
		Counters map[string]uint64
	}
	if err := json.Unmarshal(b.Bytes(), &have); err != nil {
		t.Fatal(err)
	}
	if have.Duration != 1e9 || have.BytesWire != 1_524_000 || have.Cost.Total != 220 ||
		len(have.Drops) != 3 || have.TX.Frames != 620 ||
		have.Counters["tx_queue_stopped"] != 2 ||
		have.Counters["tx0_inline"] != 4 || !have.Balanced ||
		have.Counters["rx_out_of_buffer"] != 10 {
		t.Errorf("%+v", have)
	}
}

// Every way to lose a frame or a page shows.
func TestImbalance(t *testing.T) {
	for name, spoil := range map[string]func(*port.Stats){
		"frames the device lost count of": func(s *port.Stats) { s.Device.RxPacketsPhy++ },
		"frames the device still holds": func(s *port.Stats) {
			s.Device.RxPending, s.Device.RxPacketsPhy = 1, 1001
		},
		"queue 0: delivered and dropped":    func(s *port.Stats) { s.Queues[0].RX.Completions++ },
		"queue 0: pages in known places":    func(s *port.Stats) { s.Queues[0].Books.Free-- },
		"queue 0: pages held by packets":    func(s *port.Stats) { s.Queues[0].Books.Held = 1 },
		"queue 0: packet records in use":    func(s *port.Stats) { s.Queues[0].Books.Packets = 1 },
		"queue 0: small heads in use":       func(s *port.Stats) { s.Queues[0].Books.Heads = 1 },
		"queue 0: packets held by GRO":      func(s *port.Stats) { s.Queues[0].GRO.Held = 1 },
		"packets the queues received: 990,": func(s *port.Stats) { s.Device.LROAggregates = 1 },
		"queue 0: packets sent or lost: 54": func(s *port.Stats) { s.Queues[0].TX.Done-- },
		"frames that left: 600, want 620":   func(s *port.Stats) { s.Queues[0].TX.Recover = 0 },
		"packets handled and merged: 959,":  func(s *port.Stats) { s.Packets-- },
		"packets handled and merged: 961,":  func(s *port.Stats) { s.Drops[packet.DropNoMemory]++ },
	} {
		s := stats()
		spoil(s)
		r := New(run, s, true)
		if text := strings.Join(r.Imbalance, "\n"); r.Balanced || !strings.Contains(text, name) {
			t.Errorf("%s: balanced %v, %q", name, r.Balanced, text)
		}
	}
	if r := New(run, stats(), true); !r.Balanced {
		t.Error(r.Imbalance)
	}
}

func TestLive(t *testing.T) {
	var b bytes.Buffer
	NewLive(&b, false).Show(2*time.Second, *stats())
	if want := "   2.0 s  500 pps, 6.00 Mb/s L2, 6.10 Mb/s wire  16.00 frames a packet  " +
		"46 dropped\n"; b.String() != want {
		t.Errorf("have %q, want %q", b.String(), want)
	}
	b.Reset()
	l := NewLive(&b, true)
	for sec := range 2 {
		l.Show(time.Duration(sec+1)*time.Second, *stats())
	}
	l.Clear()
	// Five lines, drawn over once, taken away at the end.
	up, lines := strings.Count(b.String(), "\x1b[5A\x1b[J"), strings.Count(b.String(), "\n")
	if up != 2 || lines != 10 {
		t.Errorf("%q", b.String())
	}
}
