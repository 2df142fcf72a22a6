package desc

import "encoding/binary"

// A CQE is a 64-byte completion (facts/mlx5e.md 2.1).
type CQE [64]byte

// Offsets of the fields of a CQE, in bytes.
const (
	offTunnel    = 0
	offWQEID     = 2
	offLROFlags  = 4
	offMinTTL    = 5
	offWindow    = 6
	offAck       = 8
	offHash      = 12
	offHashType  = 16
	offPath      = 17
	offCheckSum  = 20
	offVerdict   = 28
	offHdrType   = 29
	offVLAN      = 30
	offLROSegs   = 32
	offFlowMeta  = 36
	offByteCount = 44
	offTimestamp = 48
	offFlowTag   = 56
	offCounter   = 60
	offSignature = 62
	offOpOwn     = 63
)

const (
	tunneled = 0x01 // byte 0
	lroPush  = 0x40 // byte 4
	ceMark   = 0x80 // byte 17
)

// Tunneled says that verdict, types and hash are those of the inner headers.
func (c *CQE) Tunneled() bool { return c[offTunnel]&tunneled != 0 }

// SetTunneled writes all of byte 0.
func (c *CQE) SetTunneled(on bool) { c[offTunnel] = flag(on, tunneled) }

// WQEID is the index of the WQE in the linked list of a striding queue. The
// device is not trusted: check it.
func (c *CQE) WQEID() uint16     { return binary.BigEndian.Uint16(c[offWQEID:]) }
func (c *CQE) SetWQEID(v uint16) { binary.BigEndian.PutUint16(c[offWQEID:], v) }

// LROPush: a merged segment had PSH.
func (c *CQE) LROPush() bool      { return c[offLROFlags]&lroPush != 0 }
func (c *CQE) SetLROPush(on bool) { c[offLROFlags] = flag(on, lroPush) }

// LROMinTTL is the smallest TTL or hop limit of the merged segments.
func (c *CQE) LROMinTTL() uint8     { return c[offMinTTL] }
func (c *CQE) SetLROMinTTL(v uint8) { c[offMinTTL] = v }

// LROWindow is the TCP window of the last merged segment, as on the wire.
func (c *CQE) LROWindow() uint16     { return binary.BigEndian.Uint16(c[offWindow:]) }
func (c *CQE) SetLROWindow(v uint16) { binary.BigEndian.PutUint16(c[offWindow:], v) }

// LROAck is the acknowledgement number of the last merged segment.
func (c *CQE) LROAck() uint32     { return binary.BigEndian.Uint32(c[offAck:]) }
func (c *CQE) SetLROAck(v uint32) { binary.BigEndian.PutUint32(c[offAck:], v) }

// LROSegs is the number of segments in the packet; 0 and 1 say it is plain.
func (c *CQE) LROSegs() uint8     { return c[offLROSegs] }
func (c *CQE) SetLROSegs(v uint8) { c[offLROSegs] = v }

// Hash is the receive hash; HashType says what it covers.
func (c *CQE) Hash() uint32           { return binary.BigEndian.Uint32(c[offHash:]) }
func (c *CQE) SetHash(v uint32)       { binary.BigEndian.PutUint32(c[offHash:], v) }
func (c *CQE) HashType() HashType     { return HashType(c[offHashType]) }
func (c *CQE) SetHashType(t HashType) { c[offHashType] = uint8(t) }

// CEMark: the device saw an ECN congestion mark.
func (c *CQE) CEMark() bool      { return c[offPath]&ceMark != 0 }
func (c *CQE) SetCEMark(on bool) { c[offPath] = flag(on, ceMark) }

// CheckSum is the folded one's complement sum over every byte behind the
// Ethernet header, as CHECKSUM_COMPLETE. A tag that was stripped is not in it,
// one that was kept is.
func (c *CQE) CheckSum() uint16     { return binary.BigEndian.Uint16(c[offCheckSum:]) }
func (c *CQE) SetCheckSum(v uint16) { binary.BigEndian.PutUint16(c[offCheckSum:], v) }

// Verdict says which layers the device found good.
func (c *CQE) Verdict() Verdict     { return Verdict(c[offVerdict]) }
func (c *CQE) SetVerdict(v Verdict) { c[offVerdict] = uint8(v) }

// HdrType says what the headers are and whether a tag was stripped.
func (c *CQE) HdrType() HdrType     { return HdrType(c[offHdrType]) }
func (c *CQE) SetHdrType(t HdrType) { c[offHdrType] = uint8(t) }

// VLAN is the TCI of the stripped tag; valid if HdrType says so.
func (c *CQE) VLAN() uint16     { return binary.BigEndian.Uint16(c[offVLAN:]) }
func (c *CQE) SetVLAN(v uint16) { binary.BigEndian.PutUint16(c[offVLAN:], v) }

// FlowMeta is the flow-table metadata; its low byte carries the link type of
// the frame, 0 being Ethernet.
func (c *CQE) FlowMeta() uint32     { return binary.BigEndian.Uint32(c[offFlowMeta:]) }
func (c *CQE) SetFlowMeta(v uint32) { binary.BigEndian.PutUint32(c[offFlowMeta:], v) }

// ByteCount is the length of the frame and, in a striding queue, the strides
// it took. In the title of a basic compressed session it is the number of
// completions.
func (c *CQE) ByteCount() ByteCount {
	return ByteCount(binary.BigEndian.Uint32(c[offByteCount:]))
}

func (c *CQE) SetByteCount(v ByteCount) {
	binary.BigEndian.PutUint32(c[offByteCount:], uint32(v))
}

// Timestamp is the device's time in ns; 0 is none.
func (c *CQE) Timestamp() uint64     { return binary.BigEndian.Uint64(c[offTimestamp:]) }
func (c *CQE) SetTimestamp(v uint64) { binary.BigEndian.PutUint64(c[offTimestamp:], v) }

// FlowTag is 24 bits; the packet's mark.
func (c *CQE) FlowTag() uint32 { return binary.BigEndian.Uint32(c[offFlowTag:]) & 0xffffff }

// SetFlowTag writes the low 24 bits of v and clears byte 56.
func (c *CQE) SetFlowTag(v uint32) { binary.BigEndian.PutUint32(c[offFlowTag:], v&0xffffff) }

// SendOpcode and Queue are those of the WQE that a completion of a send queue
// names; in the place of the flow tag.
func (c *CQE) SendOpcode() SendOpcode { return SendOpcode(c[offFlowTag]) }
func (c *CQE) Queue() uint32          { return c.FlowTag() }

// SetSend writes both.
func (c *CQE) SetSend(op SendOpcode, queue uint32) {
	c.SetFlowTag(queue)
	c[offFlowTag] = uint8(op)
}

// WQECounter of a private copy: the stride where the packet starts (striding),
// or the WQE's counter (cyclic).
func (c *CQE) WQECounter() uint16     { return binary.BigEndian.Uint16(c[offCounter:]) }
func (c *CQE) SetWQECounter(v uint16) { binary.BigEndian.PutUint16(c[offCounter:], v) }

// Signature of a private copy; the lap with CompressEnhanced.
func (c *CQE) Signature() uint8 { return c[offSignature] }

// OpOwn of a private copy: opcode, format, owner bit.
func (c *CQE) OpOwn() uint8     { return c[offOpOwn] }
func (c *CQE) SetOpOwn(v uint8) { c[offOpOwn] = v }

func flag(on bool, bit uint8) uint8 {
	if on {
		return bit
	}
	return 0
}
