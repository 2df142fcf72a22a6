package nic

import "cmp"

// counters are the device's own; Stats are made of them.
type counters struct {
	packets, bytes         uint64
	fates                  [numFates]uint64
	fillers, fillerStrides uint64
	blocks, minis          uint64
	merged, segments       uint64 // aggregates, frames in them
	errors, flushes        uint64
	stops, overruns        uint64
	resets, events         uint64
	faults                 FaultStats

	sent, sentBytes          uint64
	largeFrames, multiFrames uint64
	wqes                     uint64 // taken from the ring
	done                     [numSends]uint64
	lostWQEs                 uint64
	sendErrors, sendCQEs     uint64
	inlineBytes              uint64
	tagsInserted, sums       uint64
}

// Stats counts since the device was made. Frames are counted on arrival in
// RxPacketsPhy and, when they end, in exactly one of RxDelivered to RxLost;
// RxPending are on the way. Send WQEs are counted in TxWQEs, and when they end
// in exactly one of TxSends to TxLost; TxPending are on the way.
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

	TxWQEs          uint64 // taken from the ring
	TxSends         uint64 // done: a frame each
	TxLSOPackets    uint64 // done: packets that were cut
	TxMultiSessions uint64 // done: multi-packet WQEs
	TxNops          uint64 // done: filled a fragment up
	TxErrors        uint64 // ended in an error completion
	TxLost          uint64 // waited for the cable when the queue was reset

	TxPending uint64 // wait for the cable

	TxLSOFrames    uint64 // frames that LSO packets were cut into
	TxMultiFrames  uint64 // frames of multi-packet WQEs
	TxInlineBytes  uint64 // of frames that lay in WQEs
	TxVLANInserted uint64 // frames that got a tag
	TxChecksummed  uint64 // frames, not of LSO, whose checksums were filled in
	TxCQEs         uint64 // completions without error
	CQEvents       uint64 // events raised, of receive queues, too

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
		TxPacketsPhy: c.sent, TxBytesPhy: c.sentBytes,
		TxWQEs: c.wqes, TxSends: c.done[sendsFrame], TxLSOPackets: c.done[sendsLarge],
		TxMultiSessions: c.done[sendsMulti], TxNops: c.done[sendsNothing],
		TxErrors: c.sendErrors, TxLost: c.lostWQEs,
		TxLSOFrames: c.largeFrames, TxMultiFrames: c.multiFrames,
		TxInlineBytes: c.inlineBytes, TxVLANInserted: c.tagsInserted, TxChecksummed: c.sums,
		TxCQEs: c.sendCQEs, CQEvents: c.events,
		FillerCQEs: c.fillers, FillerStrides: c.fillerStrides,
		LROPackets: c.segments, LROAggregates: c.merged,
		CQECompressBlks: c.blocks, CQECompressPkts: c.minis,
		ErrorCQEs: c.errors, FlushCQEs: c.flushes, QueueStops: c.stops,
		CQOverruns: c.overruns, QueueResets: c.resets, Faults: c.faults,
	}
	for _, q := range d.queues {
		s.RxPending += q.out.frames()
	}
	for _, q := range d.senders {
		if q.begun {
			s.TxPending++
		}
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

// TxUnaccounted is the number of send WQEs that are in none of the counters of
// how they ended, or in two, and if there are none, of frames that left and
// belong to no kind of WQE; it is 0.
func (s *Stats) TxUnaccounted() int64 {
	wqes := s.TxWQEs - s.TxSends - s.TxLSOPackets - s.TxMultiSessions - s.TxNops - s.TxErrors -
		s.TxLost - s.TxPending
	frames := s.TxPacketsPhy - s.TxSends - s.TxLSOFrames - s.TxMultiFrames
	return cmp.Or(int64(wqes), int64(frames))
}
