package rx

import (
	"iter"
	"sync"

	"github.com/millrace-net/millrace/internal/counter"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
	"github.com/millrace-net/millrace/xdp"
)

// counters are what the queue's goroutine counts.
type counters struct {
	completions, delivered, flushed                     uint64
	bytes                                               uint64
	csumComplete, csumUnnecessary, csumUnnecessaryInner uint64
	csumNone, removedVLAN, ecnMark                      uint64
	lroPackets, lroBytes, lroSegs                       uint64 // segments beyond the first
	wqeErr, buffAllocErr, recover                       uint64
	fillerCQEs, fillerStrides                           uint64
	compressBlks, compressPkts                          uint64
	xdpDrop, xdpAborted, xdpTx, xdpRedirect             uint64
	drops                                               [packet.NumDrops]uint64
}

// Stats are the counts of a queue since it was made. Received() equals
// Delivered, all Drops, XDPDrop, XDPTx and XDPRedirect together.
type Stats struct {
	Completions uint64 // handled; a mini completion is one
	Delivered   uint64 // packets put into batches
	Flushed     uint64 // completions of WQEs that brought no frame: the queue was in error
	Drops       [packet.NumDrops]uint64

	// With the names of ethtool (facts/mlx5e.md 11.1).
	Packets              uint64 // delivered, a merged one counting its segments
	Bytes                uint64
	LROPackets           uint64 // merged by the device
	LROBytes             uint64
	ECNMark              uint64
	RemovedVLANPackets   uint64
	CSumUnnecessary      uint64
	CSumUnnecessaryInner uint64
	CSumNone             uint64
	CSumComplete         uint64
	WQEErr               uint64 // error completions, and those that contradict what was posted
	MPWQEFillerCQEs      uint64
	MPWQEFillerStrides   uint64
	OversizePktsSWDrop   uint64
	BuffAllocErr         uint64 // refills and records that found no memory
	CQECompressBlks      uint64
	CQECompressPkts      uint64
	Recover              uint64 // restarts of the queue
	XDPDrop              uint64 // by the program, and frames that it could not send
	XDPAborted           uint64 // of these because it failed, gave no verdict or nobody took them
	XDPTx                uint64 // sent back by this queue
	XDPRedirect          uint64
	XDPSend              xdp.SendStats // of the send queue of this one
	Pool                 pagepool.Stats
}

// Received is the number of frames that completions reported.
func (s *Stats) Received() uint64 { return s.Completions - s.Flushed - s.MPWQEFillerCQEs }

// Balanced says whether every received frame was delivered or dropped.
func (s *Stats) Balanced() bool {
	sum := s.Delivered + s.XDPDrop + s.XDPTx + s.XDPRedirect
	for _, n := range s.Drops {
		sum += n
	}
	return s.Received() == sum
}

// Ethtool gives the counters with their names in "ethtool -S", without the
// "rx_" or "rx0_" in front.
func (s *Stats) Ethtool() iter.Seq2[string, uint64] {
	return counter.All(counter.List{
		{"packets", s.Packets},
		{"bytes", s.Bytes},
		{"lro_packets", s.LROPackets},
		{"lro_bytes", s.LROBytes},
		{"ecn_mark", s.ECNMark},
		{"removed_vlan_packets", s.RemovedVLANPackets},
		{"csum_unnecessary", s.CSumUnnecessary},
		{"csum_unnecessary_inner", s.CSumUnnecessaryInner},
		{"csum_none", s.CSumNone},
		{"csum_complete", s.CSumComplete},
		{"wqe_err", s.WQEErr},
		{"mpwqe_filler_cqes", s.MPWQEFillerCQEs},
		{"mpwqe_filler_strides", s.MPWQEFillerStrides},
		{"oversize_pkts_sw_drop", s.OversizePktsSWDrop},
		{"buff_alloc_err", s.BuffAllocErr},
		{"cqe_compress_blks", s.CQECompressBlks},
		{"cqe_compress_pkts", s.CQECompressPkts},
		{"recover", s.Recover},
		{"xdp_drop", s.XDPDrop},
		{"xdp_redirect", s.XDPRedirect},
		{"xdp_tx_xmit", s.XDPSend.Xmit},
		{"xdp_tx_nops", s.XDPSend.Nops},
		{"xdp_tx_full", s.XDPSend.Full},
		{"xdp_tx_err", s.XDPSend.Err},
		{"xdp_tx_cqe", s.XDPSend.CQEs},
		{"pp_alloc_fast", s.Pool.AllocFast},
		{"pp_alloc_slow", s.Pool.AllocSlow},
		{"pp_alloc_slow_high_order", s.Pool.AllocSlowHighOrder},
		{"pp_alloc_empty", s.Pool.AllocEmpty},
		{"pp_alloc_refill", s.Pool.AllocRefill},
		{"pp_alloc_waive", s.Pool.AllocWaive},
		{"pp_recycle_cached", s.Pool.RecycleCached},
		{"pp_recycle_cache_full", s.Pool.RecycleCacheFull},
		{"pp_recycle_ring", s.Pool.RecycleRing},
		{"pp_recycle_ring_full", s.Pool.RecycleRingFull},
		{"pp_recycle_released_ref", s.Pool.RecycleReleasedRef},
	})
}

// published is what Stats reads, as of the end of the last Poll.
type published struct {
	mu    sync.Mutex
	count counters
	pool  pagepool.Stats
	send  xdp.SendStats
}

// publish makes the counts of this poll visible to Stats.
func (q *Queue) publish() {
	p := &q.published
	p.mu.Lock()
	p.count, p.pool = q.count, q.pool.Stats()
	if q.xdp != nil {
		p.send = q.xdp.send.Stats()
	}
	p.mu.Unlock()
}

// Stats are the counts at the end of the last Poll. Any goroutine may call it.
func (q *Queue) Stats() Stats {
	q.published.mu.Lock()
	c, pool, send := q.published.count, q.published.pool, q.published.send
	q.published.mu.Unlock()
	return Stats{
		Completions: c.completions, Delivered: c.delivered, Flushed: c.flushed,
		Drops: c.drops, Packets: c.delivered + c.lroSegs, Bytes: c.bytes,
		LROPackets: c.lroPackets, LROBytes: c.lroBytes,
		ECNMark: c.ecnMark, RemovedVLANPackets: c.removedVLAN,
		CSumUnnecessary: c.csumUnnecessary, CSumUnnecessaryInner: c.csumUnnecessaryInner,
		CSumNone: c.csumNone, CSumComplete: c.csumComplete,
		WQEErr: c.wqeErr, MPWQEFillerCQEs: c.fillerCQEs, MPWQEFillerStrides: c.fillerStrides,
		OversizePktsSWDrop: c.drops[packet.DropOversize], BuffAllocErr: c.buffAllocErr,
		CQECompressBlks: c.compressBlks, CQECompressPkts: c.compressPkts,
		Recover: c.recover, Pool: pool,
		XDPDrop: c.xdpDrop, XDPAborted: c.xdpAborted, XDPTx: c.xdpTx,
		XDPRedirect: c.xdpRedirect, XDPSend: send,
	}
}

// Books say where the pages of a queue are. Each is in exactly one place:
// Free, Posted, Waiting, Filler, Side and Held together are Total.
type Books struct {
	Total   int // pages that the pool took from its source
	Free    int // in the pool
	Posted  int // in WQEs that the device has; packets may hold references on them, too
	Waiting int // in WQEs that are used up, until they are filled again
	Filler  int // behind the WQEs of a striding queue
	Side    int // whose slices are linear parts of frames for the XDP program
	Held    int // by packets and frames on their way out alone
	Packets int // records in use
	Heads   int // small heads in use
	Sending int // references of the send queue, also on pages of other queues
}

// Books counts. Only the queue's goroutine may call it.
func (q *Queue) Books() Books {
	pool := q.pool.Books()
	b := Books{
		Total: pool.Total, Free: pool.Free,
		Packets: q.slab.InUse(), Heads: q.slab.HeadsInUse(),
	}
	for i := range q.pages {
		switch {
		case q.pages[i].Page == 0:
		case q.isPosted(uint32(i) / q.groupPages):
			b.Posted++
		default:
			b.Waiting++
		}
	}
	if q.filler != 0 {
		b.Filler = 1
	}
	if q.xdp != nil {
		b.Sending = q.xdp.send.InFlight()
		if q.xdp.side.Page != 0 {
			b.Side = 1
		}
	}
	b.Held = pool.Out - b.Posted - b.Waiting - b.Filler - b.Side
	return b
}

// isPosted says whether the device has a WQE of the group.
func (q *Queue) isPosted(group uint32) bool {
	if q.consumed != nil {
		return q.consumed[group] < q.strides
	}
	end := group<<q.groupShift + 1<<q.groupShift - 1 // the group's last WQE goes last
	return (end-(q.counter-q.posted))&q.wqeMask < q.posted
}
