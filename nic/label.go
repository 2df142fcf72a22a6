package nic

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// A label is what the device finds in a frame and tells in its completion.
type label struct {
	info     header.Info
	link     header.LinkType
	l2       int    // where the bytes that sum covers begin
	sum      uint16 // of all bytes from l2 on, folded
	segment  uint16 // of the transport segment, headers and all; for TCP and UDP
	tci      uint16
	hash     uint32
	hashType desc.HashType
	types    desc.HdrType
	verdict  desc.Verdict
	ce       bool
	time     int64
}

// read fills the label from the frame f.
func (l *label) read(d *Device, f *Frame, strip bool) {
	b := f.Data
	l.link = f.Link
	if l.link >= header.NumLinkTypes {
		l.link = header.LinkOpaque
	}
	header.Parse(l.link, b, &d.parse, &l.info)
	l.types, l.tci, l.l2 = 0, 0, min(l.link.HeaderLen(), len(b))
	l.verdict, l.sum, l.segment = 0, 0, 0
	if strip && l.link == header.LinkEthernet && len(b) >= taggedBytes &&
		header.EthernetAt(b, 0).Type() == header.TypeVLAN {
		l.tci = header.VLANAt(b, header.TagOffset+2).TCI()
		l.types = desc.HdrVLANStripped
		l.l2 += header.VLANBytes
	}
	l.readTypes(b)
	l.readHash(d.toeplitz, b)
	l.ce = congested(b, &l.info)
}

const (
	taggedBytes = header.EthernetBytes + header.VLANBytes
)

// stripped says that the frame goes to memory without its tag.
func (l *label) stripped() bool { return l.types.VLANStripped() }

// unstrip leaves the tag in the frame.
func (l *label) unstrip() {
	l.types &^= desc.HdrVLANStripped
	l.tci = 0
	l.l2 -= header.VLANBytes
}

func (l *label) readTypes(b []byte) {
	switch l.info.Version {
	case 4:
		l.types |= desc.HdrIPv4
	case 6:
		l.types |= desc.HdrIPv6
	}
	if !isTransport(&l.info) {
		return
	}
	switch {
	case l.info.Proto == header.ProtoUDP:
		l.types |= desc.HdrUDP
	case header.TCPAt(b, int(l.info.L4)).Flags()&header.TCPAck == 0:
		l.types |= desc.HdrTCP
	case l.info.End > uint32(l.info.Payload):
		l.types |= desc.HdrTCPAckData
	default:
		l.types |= desc.HdrTCPAck
	}
}

// readHash hashes the innermost addresses, and the ports of TCP and UDP.
func (l *label) readHash(t *toeplitz, b []byte) {
	l.hash, l.hashType = 0, 0
	ports := 8
	switch net := int(l.info.Net); l.info.Version {
	case 4:
		l.hash, l.hashType = t.add(0, 0, b[net+12:net+20]), desc.HashIPv4
	case 6:
		ports = 32
		l.hash, l.hashType = t.add(0, 0, b[net+8:net+40]), desc.HashIPv6
	default:
		return
	}
	if !isTransport(&l.info) {
		return
	}
	l.hash = t.add(l.hash, ports, b[l.info.L4:l.info.L4+4])
	if l.info.Proto == header.ProtoTCP {
		l.hashType |= desc.HashTCP
	} else {
		l.hashType |= desc.HashUDP
	}
}

// congested looks for the CE codepoint in the outermost IP header (RFC 3168).
func congested(b []byte, info *header.Info) bool {
	if info.Version == 0 {
		return false
	}
	net := int(info.Outer)
	class := b[net+1]
	if b[net]>>4 == 6 {
		class >>= 4
	}
	return class&3 == 3
}

// write puts the label into an empty completion.
func (l *label) write(c *desc.CQE, on Feature) {
	c.SetTunneled(l.info.Encap != header.EncapNone)
	if on&Hash != 0 {
		c.SetHash(l.hash)
		c.SetHashType(l.hashType)
	}
	if on&Checksum != 0 {
		c.SetCheckSum(l.sum)
		c.SetVerdict(l.verdict)
	}
	if on&Timestamp != 0 {
		c.SetTimestamp(uint64(l.time))
	}
	c.SetHdrType(l.types)
	c.SetVLAN(l.tci)
	c.SetCEMark(l.ce)
	c.SetFlowMeta(uint32(l.link))
}
