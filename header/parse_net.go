package header

import "encoding/binary"

// maxTags is how many VLAN tags in a row are walked.
const maxTags = 8

// A walk is the way of Parse through one frame.
type walk struct {
	b     []byte
	o     *ParseOptions
	info  *Info
	inner bool // behind a tunnel header
}

func (w *walk) be16(off int) uint16 { return binary.BigEndian.Uint16(w.b[off:]) }

// has reports whether n bytes lie at off; if not, the frame is truncated.
func (w *walk) has(off, n int) bool {
	if off+n <= len(w.b) {
		return true
	}
	w.info.Flags |= FlagTruncated
	return false
}

// link finds the network header behind the link header.
func (w *walk) link(link LinkType) {
	if off := link.HeaderLen(); w.has(0, off) {
		w.network(link.netType(w.b), off)
	}
}

// network walks VLAN tags and the IP header behind them. It reports whether
// there is one.
func (w *walk) network(typ uint16, off int) bool {
	tags := 0
	for ; typ == TypeVLAN || typ == TypeQinQ; tags++ {
		if tags == maxTags || !w.has(off, VLANBytes) {
			break
		}
		typ = VLANAt(w.b, off).Type()
		off += VLANBytes
	}
	if !w.inner {
		w.info.Type, w.info.Tags = typ, uint8(tags)
	}
	switch typ {
	case TypeIPv4:
		return w.ip4(off)
	case TypeIPv6:
		return w.ip6(off)
	}
	return false
}

// enter notes the IP header at off.
func (w *walk) enter(off int, version, proto uint8, end int) {
	w.info.Net, w.info.Version, w.info.Proto = uint16(off), version, proto
	w.info.End = uint32(end)
	if !w.inner {
		w.info.Outer = uint16(off)
	}
}

func (w *walk) ip4(off int) bool {
	if !w.has(off, IPv4Bytes) {
		return false
	}
	h := IPv4At(w.b, off)
	size := h.HeaderLen()
	if h.Version() != 4 || size < IPv4Bytes {
		return false
	}
	w.enter(off, 4, h.Proto(), off+int(h.TotalLen()))
	if size > IPv4Bytes {
		w.info.Flags |= FlagOptions
	}
	if h.IsFragment() {
		w.info.Flags |= FlagFragment
	}
	if h.FragmentOffset() != 0 {
		w.info.Flags |= FlagLater
		return true
	}
	if w.has(off, size) {
		w.transport(off + size)
	}
	return true
}

func (w *walk) ip6(off int) bool {
	if !w.has(off, IPv6Bytes) {
		return false
	}
	h := IPv6At(w.b, off)
	if h.Version() != 6 {
		return false
	}
	w.enter(off, 6, h.NextHeader(), off+IPv6Bytes+int(h.PayloadLen()))
	if l4 := w.extensions(off + IPv6Bytes); l4 != 0 {
		w.transport(l4)
	}
	return true
}

// extensions walks the extension headers at off. It returns where the
// transport header begins, or 0 when there is none within reach.
func (w *walk) extensions(off int) int {
	for {
		size := 8
		switch w.info.Proto {
		case ProtoHopByHop, ProtoRouting, ProtoDestOpts:
			if !w.has(off, 2) {
				return 0
			}
			size = (int(w.b[off+1]) + 1) * 8
		case ProtoFragment:
			w.info.Flags |= FlagFragment
		default:
			return off
		}
		w.info.Flags |= FlagExtensions
		if !w.has(off, size) {
			return 0
		}
		later := w.info.Proto == ProtoFragment && w.be16(off+2)&0xfff8 != 0
		w.info.Proto = w.b[off]
		if later {
			w.info.Flags |= FlagLater
			return 0
		}
		off += size
	}
}
