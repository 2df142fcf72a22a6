package header

import "slices"

// transport notes the transport header at off, or walks on through the one
// tunnel level that is walked.
func (w *walk) transport(off int) {
	w.info.L4 = uint16(off)
	switch w.info.Proto {
	case ProtoTCP:
		if w.has(off, TCPBytes) {
			size := TCPAt(w.b, off).HeaderLen()
			if size >= TCPBytes && w.has(off, size) {
				w.info.Payload = uint16(off + size)
			}
		}
	case ProtoUDP:
		if w.has(off, UDPBytes) {
			w.info.Payload = uint16(off + UDPBytes)
			w.vxlan(off)
		}
	case ProtoICMP, ProtoICMPv6:
		if w.has(off, ICMPBytes) {
			w.info.Payload = uint16(off + ICMPBytes)
		}
	case ProtoIPv4:
		w.tunnel(EncapIP, 0, TypeIPv4, off)
	case ProtoIPv6:
		w.tunnel(EncapIP, 0, TypeIPv6, off)
	case ProtoGRE:
		w.gre(off)
	}
}

// tunnel walks the packet of EtherType typ at off, inside the tunnel header at
// head. Without an IP header in it the tunnel is a transport header like any
// other.
func (w *walk) tunnel(encap Encap, head int, typ uint16, off int) {
	if w.inner {
		return
	}
	outside := *w.info
	w.inner = true
	w.info.Encap, w.info.Tunnel, w.info.L4, w.info.Payload = encap, uint16(head), 0, 0
	if !w.network(typ, off) {
		*w.info = outside
	}
}

// ethernet walks the Ethernet frame at off, inside the tunnel header at head.
func (w *walk) ethernet(encap Encap, head, off int) {
	if off+EthernetBytes <= len(w.b) {
		w.tunnel(encap, head, EthernetAt(w.b, off).Type(), off+EthernetBytes)
	}
}

// gre walks a GRE header of version 0 without source routes (RFC 2784, 2890).
func (w *walk) gre(off int) {
	if !w.has(off, GREBytes) {
		return
	}
	h := GREAt(w.b, off)
	if h.Flags()&(GRERouting|GREVersionMask) != 0 || !w.has(off, h.HeaderLen()) {
		return
	}
	if next := off + h.HeaderLen(); h.Proto() == TypeTEB {
		w.ethernet(EncapTEB, off, next)
	} else {
		w.tunnel(EncapGRE, off, h.Proto(), next)
	}
}

// vxlan walks the frame behind a UDP header whose port carries VXLAN (RFC
// 7348).
func (w *walk) vxlan(off int) {
	if w.o != nil && slices.Contains(w.o.VXLAN, UDPAt(w.b, off).DstPort()) {
		w.ethernet(EncapVXLAN, off, off+UDPBytes+VXLANBytes)
	}
}
