package nic

import "github.com/millrace-net/millrace/desc"

// openMulti checks a multi-packet WQE: each data segment is a frame of its own,
// for all of which the one EthSegment holds (ENHANCED_MPSW; facts/mlx5e.md 1.9).
// Its frames have no inline header, so a device that wants one takes none.
func (s *sender) openMulti() desc.Syndrome {
	w := &s.wqe
	if w.header > 0 || w.end > desc.MaxMultiSegments*desc.SegmentBytes ||
		s.dev.cfg.MinInline != desc.InlineNone {
		return desc.LocalQPOp
	}
	s.next = w.data
	return w.measure()
}

// sendMulti sends the frames that are not sent yet.
func (s *sender) sendMulti() (done bool, y desc.Syndrome) {
	for s.next < s.wqe.end {
		n, inline := s.wqe.segment(s.next)
		end := s.next + segmentBytes(n, inline)
		if sent, y := s.put(s.next, end, n); !sent {
			return false, y
		}
		s.next = end
		s.count.multiFrames++
	}
	return true, 0
}
