package nic

import "iter"

// counters are the device's own; Stats are made of them.
type counters struct {
	packets, bytes         uint64
	fates                  [numFates]uint64
	fillers, fillerStrides uint64
	blocks, minis          uint64
	merged, segments       uint64 // aggregates, frames in them
	errors, flushes        uint64
	stops, overruns        uint64
	resets                 uint64
	sent, sentBytes        uint64
	sendErrors             uint64
	faults                 FaultStats
}

// Stats counts since the device was made. Frames are counted on arrival in
// RxPacketsPhy and, when they end, in exactly one of RxDelivered to RxLost;
// RxPending are on the way.
type Stats struct {
	RxPacketsPhy uint64
	RxBytesPhy   uint64

	RxDelivered        uint64 // in a completion that the driver was given
	RxUndersizePktsPhy uint64 // no bytes
	RxOversizePktsPhy  uint64 // more than 65535 bytes, or than a WQE holds
	RxOutOfBuffer      uint64 // no WQE was posted
	RxIfDownPackets    uint64 // the queue was not in state Ready, or there is none
	RxCQOverrun        uint64 // no room in the CQ: the queue stopped
	RxErrors           uint64 // ended in an error completion
	RxSpoilt           uint64 // ended in a completion that lies (Faults.Hostile)
	RxLost             uint64 // completed, but the driver reset the queue first

	RxPending uint64 // completed, but withheld

	TxPacketsPhy uint64 // frames sent
	TxBytesPhy   uint64
	TxErrors     uint64 // send WQEs that ended in an error completion

	FillerCQEs      uint64
	FillerStrides   uint64
	LROPackets      uint64 // frames that were merged
	LROAggregates   uint64 // packets made of them
	CQECompressBlks uint64 // compressed sessions
	CQECompressPkts uint64 // mini CQEs
	ErrorCQEs       uint64 // of these
	FlushCQEs       uint64 // for WQEs without a frame
	QueueStops      uint64 // queues that the device took to state Error
	CQOverruns      uint64 // of these because the CQ was full
	QueueResets     uint64 // by the driver

	Faults FaultStats
}

// Stats are as of the end of the last Step. Any goroutine may call it.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// keepStats copies the counters for other goroutines.
func (d *Device) keepStats() {
	c := &d.count
	s := Stats{
		RxPacketsPhy: c.packets, RxBytesPhy: c.bytes,
		RxDelivered: c.fates[delivered], RxUndersizePktsPhy: c.fates[undersize],
		RxOversizePktsPhy: c.fates[oversize], RxOutOfBuffer: c.fates[noBuffer],
		RxIfDownPackets: c.fates[queueDown], RxCQOverrun: c.fates[cqOverrun],
		RxErrors: c.fates[errored], RxSpoilt: c.fates[spoilt], RxLost: c.fates[lostInReset],
		TxPacketsPhy: c.sent, TxBytesPhy: c.sentBytes, TxErrors: c.sendErrors,
		FillerCQEs: c.fillers, FillerStrides: c.fillerStrides,
		LROPackets: c.segments, LROAggregates: c.merged,
		CQECompressBlks: c.blocks, CQECompressPkts: c.minis,
		ErrorCQEs: c.errors, FlushCQEs: c.flushes, QueueStops: c.stops,
		CQOverruns: c.overruns, QueueResets: c.resets, Faults: c.faults,
	}
	for _, q := range d.queues {
		s.RxPending += q.out.frames()
	}
	d.mu.Lock()
	d.stats = s
	d.mu.Unlock()
}

// Unaccounted is the number of frames that arrived and are in none of the
// counters of how they ended, or in two; it is 0.
func (s *Stats) Unaccounted() int64 {
	return int64(s.RxPacketsPhy - s.RxDelivered - s.RxUndersizePktsPhy - s.RxOversizePktsPhy -
		s.RxOutOfBuffer - s.RxIfDownPackets - s.RxCQOverrun - s.RxErrors - s.RxSpoilt -
		s.RxLost - s.RxPending)
}

// Ethtool gives each counter with its name, that of "ethtool -S" where there
// is one.
func (s *Stats) Ethtool() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for _, c := range []struct {
			name  string
			value uint64
		}{
			{"rx_packets_phy", s.RxPacketsPhy},
			{"rx_bytes_phy", s.RxBytesPhy},
			{"rx_delivered", s.RxDelivered},
			{"rx_undersize_pkts_phy", s.RxUndersizePktsPhy},
			{"rx_oversize_pkts_phy", s.RxOversizePktsPhy},
			{"rx_out_of_buffer", s.RxOutOfBuffer},
			{"rx_if_down_packets", s.RxIfDownPackets},
			{"rx_cq_overrun", s.RxCQOverrun},
			{"rx_errors", s.RxErrors},
			{"rx_spoilt", s.RxSpoilt},
			{"rx_lost", s.RxLost},
			{"rx_pending", s.RxPending},
			{"tx_packets_phy", s.TxPacketsPhy},
			{"tx_bytes_phy", s.TxBytesPhy},
			{"tx_errors", s.TxErrors},
			{"filler_cqes", s.FillerCQEs},
			{"filler_strides", s.FillerStrides},
			{"lro_packets", s.LROPackets},
			{"lro_aggregates", s.LROAggregates},
			{"cqe_compress_blks", s.CQECompressBlks},
			{"cqe_compress_pkts", s.CQECompressPkts},
			{"error_cqes", s.ErrorCQEs},
			{"flush_cqes", s.FlushCQEs},
			{"queue_stops", s.QueueStops},
			{"cq_overruns", s.CQOverruns},
			{"queue_resets", s.QueueResets},
		} {
			if !yield(c.name, c.value) {
				return
			}
		}
		s.Faults.each(yield)
	}
}
