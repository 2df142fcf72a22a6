package vnet

import "encoding/binary"

// A Header is struct virtio_net_hdr, little-endian (virtio 1.2, 5.1.6). Where
// a descriptor was set to the 12-byte form (TUNSETVNETHDRSZ), two zero bytes
// follow it.
type Header [10]byte

// Bits of Flags.
const (
	NeedsCSum = 1 // the checksum at CSumStart+CSumOffset is to be filled in
	DataValid = 2 // the checksums were verified
)

// Values of GSOType.
const (
	GSONone  = 0
	GSOTCPv4 = 1
	GSOUFO   = 3 // refused by Parse
	GSOTCPv6 = 4
	GSOUDP   = 5    // UDP_L4: datagrams of one flow
	GSOECN   = 0x80 // or-ed to a TCP type: the first segment carries CWR
)

// SizeByFrags is a GSOSize that Linux keeps for itself (GSO_BY_FRAGS).
const SizeByFrags = 0xffff

func (h *Header) Flags() uint8       { return h[0] }
func (h *Header) GSOType() uint8     { return h[1] }
func (h *Header) HdrLen() uint16     { return binary.LittleEndian.Uint16(h[2:4]) }
func (h *Header) GSOSize() uint16    { return binary.LittleEndian.Uint16(h[4:6]) }
func (h *Header) CSumStart() uint16  { return binary.LittleEndian.Uint16(h[6:8]) }
func (h *Header) CSumOffset() uint16 { return binary.LittleEndian.Uint16(h[8:10]) }

func (h *Header) SetFlags(v uint8)       { h[0] = v }
func (h *Header) SetGSOType(v uint8)     { h[1] = v }
func (h *Header) SetHdrLen(v uint16)     { binary.LittleEndian.PutUint16(h[2:4], v) }
func (h *Header) SetGSOSize(v uint16)    { binary.LittleEndian.PutUint16(h[4:6], v) }
func (h *Header) SetCSumStart(v uint16)  { binary.LittleEndian.PutUint16(h[6:8], v) }
func (h *Header) SetCSumOffset(v uint16) { binary.LittleEndian.PutUint16(h[8:10], v) }
