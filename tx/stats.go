package tx

import (
	"iter"
	"sync"

	"github.com/millrace-net/millrace/internal/counter"
	"github.com/millrace-net/millrace/internal/sendring"
	"github.com/millrace-net/millrace/packet"
)

// A Tally counts packets and their bytes.
type Tally struct{ Packets, Bytes uint64 }

func (t *Tally) add(n uint32) {
	t.Packets++
	t.Bytes += uint64(n)
}

// counters are what the queue's goroutine counts.
type counters struct {
	posted, done, lost                   uint64
	rung                                 uint64 // posted when the doorbell was last rung
	more                                 uint64 // frames on the wire beyond one a packet
	csumPartial, csumInner               uint64
	ways                                 [numWays]Tally
	tso, tsoInner, soft, headers         Tally
	addedVLAN, multiBlocks, multiPackets uint64
	stopped, wake, xmitMore              uint64
	drops                                [packet.NumDrops]uint64
}

// Stats are the counts of a queue since it was made. Every packet that Post
// took is in Posted or, by its reason, in Drops; Posted is Done, Lost and
// InFlight together.
type Stats struct {
	Posted   uint64 // packets that go, or went, to the device
	Done     uint64 // of these the device has done
	Lost     uint64 // of these it had not when the queue started over or was closed
	InFlight uint64 // the others
	Drops    [packet.NumDrops]uint64

	Ways     [numWays]Tally // by Way: packets of one frame that neither device nor gso cuts
	Headers  Tally          // linear parts that were premapped in front of mapped fragments
	Software Tally          // packets that package gso cut, or whose checksum it filled in

	// With the names of ethtool (facts/mlx5e.md 11.2).
	Packets          uint64 // frames on the wire
	Bytes            uint64
	TSO              Tally // cut by the device
	TSOInner         Tally // of these in tunnels
	AddedVLANPackets uint64
	Nop              uint64 // blocks that fill a fragment up
	MPWQEBlks        uint64
	MPWQEPkts        uint64
	CSumNone         uint64
	CSumPartial      uint64
	CSumPartialInner uint64
	Stopped          uint64
	Wake             uint64
	Dropped          uint64 // all Drops together
	XmitMore         uint64 // packets whose doorbell was left to a later one
	Recover          uint64 // restarts of the queue
	CQEs             uint64
	CQEErr           uint64 // error completions, and those that contradict what was posted
	Doorbells        uint64
	Timeout          uint64 // times the device did nothing for too long
}

// Ethtool gives the counters with their names in "ethtool -S", without the
// "tx_" or "tx0_" in front; those that mlx5e does not have are named alike.
func (s *Stats) Ethtool() iter.Seq2[string, uint64] {
	return counter.All(counter.List{
		{"packets", s.Packets},
		{"bytes", s.Bytes},
		{"tso_packets", s.TSO.Packets},
		{"tso_bytes", s.TSO.Bytes},
		{"tso_inner_packets", s.TSOInner.Packets},
		{"tso_inner_bytes", s.TSOInner.Bytes},
		{"added_vlan_packets", s.AddedVLANPackets},
		{"nop", s.Nop},
		{"mpwqe_blks", s.MPWQEBlks},
		{"mpwqe_pkts", s.MPWQEPkts},
		{"csum_none", s.CSumNone},
		{"csum_partial", s.CSumPartial},
		{"csum_partial_inner", s.CSumPartialInner},
		{"stopped", s.Stopped},
		{"wake", s.Wake},
		{"dropped", s.Dropped},
		{"xmit_more", s.XmitMore},
		{"recover", s.Recover},
		{"cqes", s.CQEs},
		{"cqe_err", s.CQEErr},
		{"timeout", s.Timeout},
		{"doorbells", s.Doorbells},
		{"lost", s.Lost},
		{"mapped", s.Ways[Mapped].Packets},
		{"inline", s.Ways[Inline].Packets},
		{"premapped", s.Ways[Premapped].Packets},
		{"linearize", s.Ways[Linearize].Packets},
		{"premapped_headers", s.Headers.Packets},
		{"software_gso", s.Software.Packets},
	})
}

// published is what Stats reads, as of the end of the last Reap.
type published struct {
	mu    sync.Mutex
	count counters
	ring  sendring.Stats
	bytes uint64
}

// publish makes the counts visible to Stats.
func (q *Queue) publish() {
	p := &q.published
	p.mu.Lock()
	p.count, p.ring, p.bytes = q.count, q.ring.Stats(), q.head.bytes
	p.mu.Unlock()
}

// Stats are the counts at the end of the last Reap, or of Close. Any goroutine
// may call it.
func (q *Queue) Stats() Stats {
	p := &q.published
	p.mu.Lock()
	c, r, bytes := p.count, p.ring, p.bytes
	p.mu.Unlock()
	s := Stats{
		Posted: c.posted, Done: c.done, Lost: c.lost, InFlight: c.posted - c.done - c.lost,
		Drops: c.drops,
		Ways:  c.ways, Headers: c.headers, Software: c.soft,
		Packets: c.posted + c.more, Bytes: bytes, TSO: c.tso, TSOInner: c.tsoInner,
		AddedVLANPackets: c.addedVLAN, Nop: r.Nops,
		MPWQEBlks: c.multiBlocks, MPWQEPkts: c.multiPackets,
		CSumNone:    c.posted - c.csumPartial - c.csumInner,
		CSumPartial: c.csumPartial, CSumPartialInner: c.csumInner,
		Stopped: c.stopped, Wake: c.wake, XmitMore: c.xmitMore,
		Recover: r.Recover, CQEs: r.CQEs, CQEErr: r.CQEErr,
		Doorbells: r.Doorbells, Timeout: r.Timeouts,
	}
	for _, n := range c.drops {
		s.Dropped += n
	}
	return s
}
