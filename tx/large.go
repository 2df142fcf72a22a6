package tx

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// cuttable are the flags of packets that a device cuts. It counts IPv4
// identifications up, fills in no checksum of an outer header, and has CWR on
// the first segment only.
const cuttable = packet.GSOECN | packet.GSOGRE | packet.GSOIPXIP4 | packet.GSOIPXIP6 |
	packet.GSOUDPTunnel

// examineLarge finds out who cuts the packet. What software cuts it checks.
// Segs is not read: the device goes by lengths.
func (q *Queue) examineLarge(t *task) packet.Drop {
	p, g := t.p, t.gso
	headers, size := uint32(g.HdrLen), uint32(g.Size)
	if size == 0 || g.Type == packet.GSONone || headers > p.Linear ||
		q.tooLong(p, headers+size) {
		return packet.DropBadGSO
	}
	head := p.Bytes()[:headers]
	t.jumbo = jumboIn(head)
	if t.soft = t.soft || !q.leaves(t); t.soft {
		return packet.DropNone
	}
	var info header.Info
	header.Parse(header.LinkEthernet, head, &q.parse, &info)
	t.frames = max(1, (p.Len-headers+size-1)/size)
	if !agrees(&info, g, t.frames) {
		return q.doubt(t, &info)
	}
	t.sums = sumsOf(&info)
	return packet.DropNone
}

// leaves says whether the packet is of those that are left to the device to
// cut, as far as lengths and flags tell.
func (q *Queue) leaves(t *task) bool {
	p, g, need := t.p, t.gso, TSO
	if g.Type == packet.GSOUDP {
		need = UDPSegmentation
	}
	headers := uint32(g.HdrLen)
	inline := desc.InlineSegments(int(headers) + header.VLANBytes)
	return q.limits.offloads&need != 0 && tagKnown(p.TagType) && g.Flags&^cuttable == 0 &&
		p.Len <= maxLarge && p.Len > headers && headers <= desc.MaxInline-header.VLANBytes &&
		2+inline+t.pieces(headers) <= desc.MaxSendSegments
}

// agrees says that the packet is TCP or UDP in plain headers, as g has it, so
// that nothing else can be wrong with it.
func agrees(info *header.Info, g *packet.GSO, frames uint32) bool {
	if info.L4 != g.CSumStart || info.Payload != g.HdrLen || sumAt(info.Proto) != g.CSumOffset ||
		info.Encap != header.EncapNone || info.Flags&^header.FlagTruncated != 0 {
		return false
	}
	switch g.Type {
	case packet.GSOTCPv4:
		return info.Proto == header.ProtoTCP && info.Version == 4
	case packet.GSOTCPv6:
		return info.Proto == header.ProtoTCP && info.Version == 6
	}
	return g.Type == packet.GSOUDP && info.Proto == header.ProtoUDP && frames <= packet.MaxDatagrams
}

// doubt has package gso look at the headers. The device is left those that it
// finds its way through.
func (q *Queue) doubt(t *task, info *header.Info) packet.Drop {
	if reason := q.lay(t); reason != packet.DropNone {
		return reason
	}
	q.cutter.segmenter = gso.Segmenter{}
	odd := header.FlagFragment | header.FlagOptions | header.FlagExtensions
	t.sums = sumsOf(info)
	t.soft = info.L4 != t.gso.CSumStart || info.Flags&odd != 0 && t.jumbo == 0
	return packet.DropNone
}

// large writes an LSO WQE: the headers are inline, the device cuts what follows
// and repeats them (facts/mlx5e.md 1.8, 7.1).
//
//	ctrl | eth [headers, with the tag] | data segment, one for each piece
func (q *Queue) large(t *task) packet.Drop {
	skip := uint32(t.gso.HdrLen)
	at := 2 + desc.InlineSegments(t.inlined(skip)-t.jumbo)
	segments := at + t.pieces(skip)
	w := q.begin(desc.SendLarge, segments, t.sums, t.gso.Size)
	n := t.copyHeaders(w[inlineAt:], skip)
	if t.jumbo != 0 {
		n = dropJumbo(w[inlineAt:inlineAt+n], t.inlined(jumboAt))
	}
	ethOf(w).SetInline(n)
	from := q.mark()
	if !q.point(w[at*desc.SegmentBytes:], t, skip) {
		return q.fail(from)
	}
	q.account(t, t.p.Len+(t.frames-1)*skip)
	q.countHead(from, t.p.Linear-skip)
	q.countLarge(t)
	q.hold(t.index)
	q.commit(segments)
	return packet.DropNone
}

func (q *Queue) countLarge(t *task) {
	q.count.more += uint64(t.frames - 1)
	if t.sums&desc.SendCSumInnerL4 != 0 {
		q.count.tsoInner.add(t.p.Len)
	} else {
		q.count.tso.add(t.p.Len)
	}
	if t.p.TagType != 0 {
		q.count.addedVLAN++
	}
}

// A packet of more than 64 KiB in IPv6 has its length in a hop-by-hop option
// (RFC 2675), which is for the host only: it is left out of the segments.
const (
	jumboAt    = minFrame + header.IPv6Bytes // of an untagged frame
	jumboBytes = 8
)

// jumboIn is the length of that option in the headers.
func jumboIn(b []byte) int {
	if len(b) < jumboAt+jumboBytes || header.EthernetAt(b, 0).Type() != header.TypeIPv6 {
		return 0
	}
	ip, hop := header.IPv6At(b, minFrame), b[jumboAt:]
	// One block of 8 bytes, option 0xc2 of 4.
	if ip.NextHeader() != header.ProtoHopByHop || ip.PayloadLen() != 0 ||
		hop[0] != header.ProtoTCP || binary.BigEndian.Uint32(hop[:4])&0xffffff != 0x00c204 {
		return 0
	}
	return jumboBytes
}

// dropJumbo takes the option, which is at that byte, out of the headers. The
// payload length stays 0.
func dropJumbo(head []byte, at int) int {
	const nextHeader = 6
	head[at-header.IPv6Bytes+nextHeader] = head[at]
	copy(head[at:], head[at+jumboBytes:])
	return len(head) - jumboBytes
}
