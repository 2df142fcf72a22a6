package desc

// A ByteCount packs filler bit, strides and bytes of a completion
// (facts/mlx5e.md 2.1, bytes 44 to 47). In a cyclic queue the upper half is 0.
type ByteCount uint32

const (
	fillerBit  = 1 << 31
	MaxStrides = 0x7fff // strides that one completion can consume
	MaxBytes   = 0xffff // frame bytes that one completion can report
)

// PackByteCount packs a frame of n bytes that took so many strides.
func PackByteCount(strides, n uint16) ByteCount {
	return ByteCount(strides&MaxStrides)<<16 | ByteCount(n)
}

// FillerByteCount packs a filler that skips so many strides.
func FillerByteCount(strides uint16) ByteCount { return fillerBit | PackByteCount(strides, 0) }

// Filler says that the completion carries no frame: the rest of the WQE was
// too short for the next one.
func (b ByteCount) Filler() bool { return b&fillerBit != 0 }

// Strides is the number of strides consumed.
func (b ByteCount) Strides() uint16 { return uint16(b>>16) & MaxStrides }

// Bytes is the length of the frame.
func (b ByteCount) Bytes() uint16 { return uint16(b) }

// HashType says what a receive hash covers: bits 3:2 the addresses, 7:6 the
// ports. 0 is no hash.
type HashType uint8

const (
	HashIPv4 HashType = 1 << 2
	HashIPv6 HashType = 2 << 2
	HashTCP  HashType = 1 << 6
	HashUDP  HashType = 2 << 6
	HashSPI  HashType = 3 << 6

	HashIPMask HashType = 3 << 2
	HashL4Mask HashType = 3 << 6
)

// Verdict is the hds_ip_ext byte: layers that the device found good. Of a
// tunneled packet they are the inner ones.
type Verdict uint8

const (
	L2OK Verdict = 1 << iota
	L3OK         // IPv4 header checksum, or IPv6
	L4OK         // TCP or UDP checksum
)

// HdrType is the l4_l3_hdr_type byte: bit 0 tag stripped, 3:2 the network
// protocol, 6:4 the transport protocol.
type HdrType uint8

const (
	HdrVLANStripped HdrType = 1

	HdrIPv6   HdrType = 1 << 2
	HdrIPv4   HdrType = 2 << 2
	HdrL3Mask HdrType = 3 << 2

	HdrTCP        HdrType = 1 << 4 // without ACK
	HdrUDP        HdrType = 2 << 4
	HdrTCPAck     HdrType = 3 << 4 // ACK without data
	HdrTCPAckData HdrType = 4 << 4
	HdrL4Mask     HdrType = 7 << 4
)

// VLANStripped says that the tag's TCI is in the completion, not in the frame.
func (t HdrType) VLANStripped() bool { return t&HdrVLANStripped != 0 }

// L3 is 0, HdrIPv6 or HdrIPv4.
func (t HdrType) L3() HdrType { return t & HdrL3Mask }

// L4 is 0, HdrTCP, HdrUDP, HdrTCPAck or HdrTCPAckData.
func (t HdrType) L4() HdrType { return t & HdrL4Mask }
