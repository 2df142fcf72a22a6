package desc

import (
	"encoding/binary"
	"fmt"
)

// A ControlSegment begins every send WQE, 16 bytes (facts/mlx5e.md 1.3).
type ControlSegment [16]byte

// SendOpcode says what a send WQE asks for.
type SendOpcode uint8

const (
	SendNop   SendOpcode = 0x00 // nothing: fills a fragment up
	SendFrame SendOpcode = 0x0a // SEND: one frame
	SendLarge SendOpcode = 0x0e // LSO: one packet, cut into frames of MSS payload bytes
	SendMulti SendOpcode = 0x29 // ENHANCED_MPSW: a frame in each data segment
)

// Index is the counter of the WQE's first block.
func (s *ControlSegment) Index() uint16 { return binary.BigEndian.Uint16(s[1:3]) }

// Opcode is what to do.
func (s *ControlSegment) Opcode() SendOpcode { return SendOpcode(s[3]) }

// Queue is the number of the send queue, 24 bits.
func (s *ControlSegment) Queue() uint32 { return binary.BigEndian.Uint32(s[3:7]) & 0xffffff }

// Segments is the length of the whole WQE in units of 16 bytes, this one
// included, 6 bits.
func (s *ControlSegment) Segments() int { return int(s[7] & MaxSendSegments) }

// Completes says that the device writes a completion when it has done the WQE
// and all before it. Without, only an error is completed.
func (s *ControlSegment) Completes() bool { return s[11]&completeAlways != 0 }

// Wakes says that the completion raises the event of an armed CQ at once,
// whatever the moderation (mode 3: CQE and EQE).
func (s *ControlSegment) Wakes() bool { return s[11]&completeMask == completeMask }

// Complete asks for a completion.
func (s *ControlSegment) Complete() { s[11] |= completeAlways }

const (
	completeMask   = 3 << 2 // completion mode
	completeAlways = 2 << 2 // CQ_UPDATE
)

// Set writes all of the segment, without the wish for a completion.
func (s *ControlSegment) Set(index uint16, op SendOpcode, queue uint32, segments int) {
	binary.BigEndian.PutUint64(s[0:8], uint64(index)<<40|uint64(op)<<32|
		uint64(queue&0xffffff)<<8|uint64(segments&MaxSendSegments))
	binary.BigEndian.PutUint64(s[8:16], 0)
}

// An EthSegment follows it in a WQE that sends, 16 bytes (facts/mlx5e.md 1.4).
// All zero it asks for nothing: no checksum, no tag, no inline header.
type EthSegment [16]byte

// SendCSum says which checksums the device computes, over whatever the frame
// has there.
type SendCSum uint8

const (
	SendCSumInnerL3 SendCSum = 0x10
	SendCSumInnerL4 SendCSum = 0x20
	SendCSumL3      SendCSum = 0x40
	SendCSumL4      SendCSum = 0x80
)

// Set writes all of the segment: the checksums and, for SendLarge, the payload
// bytes of each frame; no tag and no inline header.
func (s *EthSegment) Set(sums SendCSum, mss uint16) {
	binary.BigEndian.PutUint64(s[0:8], uint64(sums)<<24|uint64(mss))
	binary.BigEndian.PutUint64(s[8:16], 0)
}

// CSum is which checksums to compute.
func (s *EthSegment) CSum() SendCSum { return SendCSum(s[4]) }

// MSS is the payload bytes of each frame of SendLarge but the last.
func (s *EthSegment) MSS() uint16 { return binary.BigEndian.Uint16(s[6:8]) }

const (
	InlineStart   = 14 // of the segment: where an inline header begins, and runs on behind it
	MaxInline     = 0x3ff
	insertTag     = 0x8000
	insertService = 0x0001
)

// SetInline says that the first n bytes of the frame, at most MaxInline, lie in
// the WQE: from InlineStart of this segment on, through as many further
// segments as they need. A tag cannot be inserted then.
func (s *EthSegment) SetInline(n int) { binary.BigEndian.PutUint16(s[12:14], uint16(n&MaxInline)) }

// InlineBytes is the length of the header that lies in the WQE itself.
func (s *EthSegment) InlineBytes() int {
	v := binary.BigEndian.Uint16(s[12:14])
	if v&insertTag != 0 {
		return 0
	}
	return int(v & MaxInline)
}

// InsertTag has the device insert a VLAN tag behind the addresses; service
// says 802.1ad.
func (s *EthSegment) InsertTag(tci uint16, service bool) {
	v := uint16(insertTag)
	if service {
		v |= insertService
	}
	binary.BigEndian.PutUint16(s[12:14], v)
	binary.BigEndian.PutUint16(s[14:16], tci)
}

// Tag is the VLAN tag to insert, if ok.
func (s *EthSegment) Tag() (tci uint16, service, ok bool) {
	v := binary.BigEndian.Uint16(s[12:14])
	return binary.BigEndian.Uint16(s[14:16]), v&insertService != 0, v&insertTag != 0
}

// InlineSegments is how many segments of 16 bytes an inline header of n bytes
// needs behind the EthSegment, which holds the first two.
func InlineSegments(n int) int {
	return (max(n, 2) - (SegmentBytes - InlineStart) + SegmentBytes - 1) / SegmentBytes
}

// MinInline says which headers of a frame have to lie in its WQE (the capability
// wqe_inline_mode; facts/mlx5e.md 7.1).
type MinInline uint8

const (
	InlineNone   MinInline = iota
	InlineL2               // up to the network header, 18 bytes at least
	InlineIP               // up to the transport header; without IP as InlineL2
	InlineTCPUDP           // all headers (header.Length), 18 bytes at least
	NumMinInline
)

var minInlineNames = [NumMinInline]string{"none", "l2", "ip", "tcp-udp"}

func (m MinInline) String() string {
	if m >= NumMinInline {
		return fmt.Sprintf("desc.MinInline(%d)", uint8(m))
	}
	return minInlineNames[m]
}
