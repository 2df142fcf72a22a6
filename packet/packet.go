package packet

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
)

// Sizes in bytes.
const (
	MaxFrags    = 17  // fragments of one packet (MAX_SKB_FRAGS)
	SharedBytes = 320 // SharedInfo, as skb_shared_info on 64 bits
	HeadRoom    = 64  // in front of the frame (NET_SKB_PAD)
	SmallBytes  = 256 // frame bytes that a small head holds
	headBytes   = HeadRoom + SmallBytes + SharedBytes
	RecordBytes = 128 // a Packet

	SmallTruesize = headBytes + RecordBytes // what Truesize counts for a small head
)

// HeadKind says what holds the linear bytes of a packet.
type HeadKind uint8

const (
	HeadNone  HeadKind = iota
	HeadPage           // a slice of a pool page: may become a fragment
	HeadSmall          // a small buffer of the slab: stays linear

	headFree HeadKind = 0xff // the record is free
)

// CSum says what is known of the packet's checksum.
type CSum uint8

const (
	CSumNone     CSum = iota // not checked
	CSumValid                // checked and good, Level+1 checksums outside in
	CSumComplete             // Sum covers every byte behind the L2 header
	CSumPartial              // to be filled in: from Start, stored at Start+Offset
)

// HashType says what the receive hash covers.
type HashType uint8

const (
	HashNone HashType = iota
	HashL3            // addresses
	HashL4            // addresses and ports
)

// A Packet is one frame, or several merged ones, in the pipeline. The zero
// value is empty. All lengths and offsets are in bytes.
type Packet struct {
	// First line: all that receive writes.
	Head     mem.Ref // page that holds the head buffer
	Start    uint32  // where the head buffer begins in that page
	Data     uint32  // first byte of the frame, from Start
	Linear   uint32  // bytes of the frame in the head buffer
	Room     uint32  // size of the head buffer; SharedInfo lies behind it
	Len      uint32  // all bytes: linear, fragments and chained packets
	Truesize uint32  // memory that the packet holds on to
	Hash     uint32  // receive hash (Toeplitz), valid if HashType is set
	Next     uint32  // next packet of a chain (index in the slab); 0 ends it
	CSum     uint16  // CSumComplete: the sum, folded, not complemented
	TagType  uint16  // EtherType of a stripped VLAN tag; 0: none
	TagTCI   uint16  // its TCI: all 16 bits
	Queue    uint16  // receive queue
	HeadKind HeadKind
	CSumKind CSum
	Level    uint8 // CSumValid: checksums verified beyond the first
	HashType HashType
	Link     header.LinkType
	Drop     Drop // why the packet goes no further; DropNone while it does
	Flags    Flags
	Meta     uint8 // bytes in front of the frame that an XDP program left for the handler

	Mark      uint32 // flow tag of the completion
	Timestamp int64  // device time in ns; 0: none

	// Second line: what later stages add.
	Net     uint16 // network header, from the first byte of the frame
	L4      uint16 // transport header
	Payload uint16 // first byte behind the transport header
	_       [58]byte
}

// Flags of a packet.
type Flags uint8

const (
	FlagECNMark Flags = 1 << iota // the device saw a CE mark
	FlagLRO                       // the device merged it
	FlagFlush                     // GRO must not add to it
)

// Frag is a run of payload bytes in one page.
type Frag struct {
	Ref mem.Ref
	Off uint32 // from the start of the page
	Len uint32
}

// Bytes are the fragment's bytes. They are lent while the packet lives.
func (f Frag) Bytes() []byte { return f.Ref.Bytes(f.Off, f.Len) }

// Bytes are the packet's linear bytes. They are lent while the packet lives.
func (p *Packet) Bytes() []byte { return p.Head.Bytes(p.Start+p.Data, p.Linear) }

// SharedInfo describes what hangs on a head buffer.
type SharedInfo struct {
	NumFrags uint32
	Chain    uint32 // first chained packet (frag_list), index in the slab; 0: none
	Last     uint32 // last chained packet
	GSO      GSO
	Frags    [MaxFrags]Frag
	_        [88]byte
}

// GSO says how a merged packet is cut again. Size 0: it is not merged.
type GSO struct {
	Size       uint16 // payload bytes in each segment but the last
	Segs       uint16 // segments
	HdrLen     uint16 // bytes of all headers, repeated in each segment
	CSumStart  uint16 // innermost transport header, from the first byte
	CSumOffset uint16 // its checksum field: 16 for TCP, 6 for UDP
	Flags      GSOFlags
	Type       GSOType
	_          [3]byte
}

// MaxDatagrams are cut from a packet of GSOUDP at most (UDP_MAX_SEGMENTS).
const MaxDatagrams = 128

// GSOType is the protocol that is cut.
type GSOType uint8

const (
	GSONone GSOType = iota
	GSOTCPv4
	GSOTCPv6
	GSOUDP // UDP datagrams (UDP_L4)
)

// GSOFlags are the further bits of Linux's gso_type.
type GSOFlags uint16

const (
	GSOFixedID      GSOFlags = 1 << iota // the outermost IPv4 ID does not count up
	GSOFixedIDInner                      // nor does the inner one
	GSOECN                               // the first segment carries CWR
	GSOGRE
	GSOGRECSum
	GSOIPXIP4 // IPv4 outside
	GSOIPXIP6 // IPv6 outside
	GSOUDPTunnel
	GSOUDPTunnelCSum
	GSOAccECN // every segment carries the CWR of the first (RFC 9768)
)
