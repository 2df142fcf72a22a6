package desc

import "encoding/binary"

// A ControlSegment begins every send WQE, 16 bytes (facts/mlx5e.md 1.3).
type ControlSegment [16]byte

// SendOpcode says what a send WQE asks for.
type SendOpcode uint8

const (
	SendNop   SendOpcode = 0x00 // nothing: fills a fragment up
	SendFrame SendOpcode = 0x0a // SEND: one frame
)

// Index is the counter of the WQE's first block.
func (s *ControlSegment) Index() uint16 { return binary.BigEndian.Uint16(s[1:3]) }

// Opcode is what to do.
func (s *ControlSegment) Opcode() SendOpcode { return SendOpcode(s[3]) }

// Queue is the number of the send queue, 24 bits.
func (s *ControlSegment) Queue() uint32 { return binary.BigEndian.Uint32(s[3:7]) & 0xffffff }

// Segments is the length of the whole WQE in units of 16 bytes, this one
// included, 6 bits.
func (s *ControlSegment) Segments() int { return int(s[7] & maxSegments) }

// Completes says that the device writes a completion when it has done the WQE
// and all before it. Without, only an error is completed.
func (s *ControlSegment) Completes() bool { return s[11]&completeMask == completeAlways }

// Complete asks for a completion.
func (s *ControlSegment) Complete() { s[11] |= completeAlways }

const (
	maxSegments    = 63     // of the 6 bits
	completeMask   = 3 << 2 // completion mode
	completeAlways = 2 << 2 // CQ_UPDATE
)

// Set writes all of the segment, without the wish for a completion.
func (s *ControlSegment) Set(index uint16, op SendOpcode, queue uint32, segments int) {
	*s = ControlSegment{}
	binary.BigEndian.PutUint16(s[1:3], index)
	binary.BigEndian.PutUint32(s[3:7], uint32(op)<<24|queue&0xffffff)
	s[7] = uint8(segments & maxSegments)
}

// An EthSegment follows it in a WQE that sends, 16 bytes (facts/mlx5e.md 1.4).
// All zero it asks for nothing: no checksum, no tag, no inline header.
type EthSegment [16]byte

// InlineBytes is the length of the header that lies in the WQE itself.
func (s *EthSegment) InlineBytes() int { return int(binary.BigEndian.Uint16(s[12:14]) & 0x3ff) }
