package nic

import (
	"iter"

	"github.com/millrace-net/millrace/internal/counter"
)

// Ethtool gives each counter with its name, that of "ethtool -S" where there
// is one.
func (s *Stats) Ethtool() iter.Seq2[string, uint64] {
	list := counter.List{
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
		{"tx_wqes", s.TxWQEs},
		{"tx_sends", s.TxSends},
		{"tx_lso_packets", s.TxLSOPackets},
		{"tx_lso_frames", s.TxLSOFrames},
		{"tx_multi_sessions", s.TxMultiSessions},
		{"tx_multi_frames", s.TxMultiFrames},
		{"tx_nops", s.TxNops},
		{"tx_errors", s.TxErrors},
		{"tx_lost", s.TxLost},
		{"tx_pending", s.TxPending},
		{"tx_inline_bytes", s.TxInlineBytes},
		{"tx_vlan_inserted", s.TxVLANInserted},
		{"tx_checksummed", s.TxChecksummed},
		{"tx_completions", s.TxCQEs},
		{"cq_events", s.CQEvents},
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
	}
	return counter.All(append(list, s.Faults.list()...))
}
