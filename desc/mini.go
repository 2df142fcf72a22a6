package desc

import "encoding/binary"

// A session of compressed completions shares the fields of a title
// (facts/mlx5e.md 2.4, 2.5). Counters, for n completions:
//
//	CompressBasic: all are new        CompressEnhanced: the title went before
//	cc      title, format 3,          cc-1  the title, a plain completion
//	        ByteCount = n             cc    minis, format 3, op_own counts them
//	cc+1    minis 0 to 7; 0 is the    cc+1  ..
//	        title's own packet        cc+n  the next entry
//	cc+8k   minis 8k to 8k+7, k >= 1
//	cc+n    the next entry
//
// Slots between are not written. Each mini stands for one counter.

// MiniFormat is what the first half of a mini CQE carries (facts/mlx5e.md
// 2.4).
type MiniFormat uint8

const (
	MiniHash       MiniFormat = 0 // receive hash
	MiniCSum       MiniFormat = 1 // checksum
	MiniFlowStride MiniFormat = 2 // flow tag and stride index
	MiniCSumStride MiniFormat = 3 // checksum and stride index
	MiniL3L4Stride MiniFormat = 4 // header type and stride index
)

// HasStride says whether minis of the format carry a stride index. Without one
// the driver adds up consumed strides.
func (f MiniFormat) HasStride() bool { return f >= MiniFlowStride }

// Sizes in minis.
const (
	MinisPerSlot = 8 // a mini array of CompressBasic
	MaxMinis     = 7 // in a slot of CompressEnhanced, whose last bytes are the word
)

// A MiniCQE is a compressed completion, 8 bytes.
type MiniCQE [8]byte

// Mini views mini i of an array, 0 to 7.
func (c *CQE) Mini(i int) *MiniCQE { return (*MiniCQE)(c[(i&7)*8:]) }

// Hash is for MiniHash.
func (m *MiniCQE) Hash() uint32     { return binary.BigEndian.Uint32(m[0:4]) }
func (m *MiniCQE) SetHash(v uint32) { binary.BigEndian.PutUint32(m[0:4], v) }

// CheckSum is for MiniCSum and MiniCSumStride.
func (m *MiniCQE) CheckSum() uint16     { return binary.BigEndian.Uint16(m[0:2]) }
func (m *MiniCQE) SetCheckSum(v uint16) { binary.BigEndian.PutUint16(m[0:2], v) }

// FlowTag is the low 16 bits of the flow tag, for MiniFlowStride.
func (m *MiniCQE) FlowTag() uint16     { return binary.BigEndian.Uint16(m[0:2]) }
func (m *MiniCQE) SetFlowTag(v uint16) { binary.BigEndian.PutUint16(m[0:2], v) }

// HdrType is for MiniL3L4Stride.
func (m *MiniCQE) HdrType() HdrType     { return HdrType(m[1]) }
func (m *MiniCQE) SetHdrType(t HdrType) { m[0], m[1] = 0, uint8(t) }

// Stride is the stride where the packet starts, if the format HasStride.
func (m *MiniCQE) Stride() uint16     { return binary.BigEndian.Uint16(m[2:4]) }
func (m *MiniCQE) SetStride(v uint16) { binary.BigEndian.PutUint16(m[2:4], v) }

// ByteCount is packed as in a CQE.
func (m *MiniCQE) ByteCount() ByteCount     { return ByteCount(binary.BigEndian.Uint32(m[4:8])) }
func (m *MiniCQE) SetByteCount(v ByteCount) { binary.BigEndian.PutUint32(m[4:8], uint32(v)) }
