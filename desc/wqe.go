package desc

import "encoding/binary"

// A DataSegment is a pointer to memory, 16 bytes (facts/mlx5e.md 1.5).
type DataSegment [16]byte

// Well-known keys and bits of a data segment.
const (
	TerminateKey   = 0x100      // lkey of an unused receive segment
	StartPadding   = 0x80000000 // byte count bit: pad 2 bytes in front
	InlineData     = 0x80000000 // byte count bit: the bytes follow (send)
	MTTRead        = 1          // access bits of a translation entry
	MTTWrite       = 2
	MTTAccessBits  = 7
	FillerPerWQE   = 1 // translation entries kept free behind a WQE's pages, at least
	MTTAlign       = 8
	MaxSegsPerWQE  = 4 // MLX5E_MAX_RX_FRAGS
	MinStrideShift = 6
	MaxStrideShift = 13
)

func (s *DataSegment) ByteCount() uint32 { return binary.BigEndian.Uint32(s[0:4]) }
func (s *DataSegment) LKey() uint32      { return binary.BigEndian.Uint32(s[4:8]) }
func (s *DataSegment) Addr() uint64      { return binary.BigEndian.Uint64(s[8:16]) }

// Set writes all of the segment: length in bytes, key and I/O address.
func (s *DataSegment) Set(byteCount, lkey uint32, addr uint64) {
	binary.BigEndian.PutUint64(s[0:8], uint64(byteCount)<<32|uint64(lkey))
	binary.BigEndian.PutUint64(s[8:16], addr)
}

// InlineBytes says whether the bytes follow the first 4 of the segment, and run
// on through as many segments as they need, and how many there are (send).
func (s *DataSegment) InlineBytes() (n int, ok bool) {
	v := s.ByteCount()
	return int(v & MaxInline), v&InlineData != 0
}

// SetInline says that n bytes, at most MaxInline, follow the first 4 (send).
func (s *DataSegment) SetInline(n int) {
	binary.BigEndian.PutUint32(s[0:4], InlineData|uint32(n&MaxInline))
}

// InlineDataStart is where the bytes of an inline data segment begin.
const InlineDataStart = 4

// A StridingWQE is a next segment and one data segment, 32 bytes
// (facts/mlx5e.md 1.6).
type StridingWQE [32]byte

func (w *StridingWQE) Next() uint16      { return binary.BigEndian.Uint16(w[2:4]) }
func (w *StridingWQE) SetNext(ix uint16) { binary.BigEndian.PutUint16(w[2:4], ix) }

// Data views the data segment.
func (w *StridingWQE) Data() *DataSegment { return (*DataSegment)(w[16:32]) }
