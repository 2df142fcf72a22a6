package nic

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// fillSums writes the checksums that a WQE asks for into the frame, whatever
// stands in their place (facts/mlx5e.md 7.3): of a tunnel the inner ones first,
// for the outer one covers them. Where the headers do not lead to one, and in
// fragments and in packets cut short, nothing is written.
func (d *Device) fillSums(b []byte, want desc.SendCSum, info *header.Info) {
	header.Parse(header.LinkEthernet, b, &d.parse, info)
	if info.Version == 0 {
		return
	}
	d.count.sums++
	l3, l4 := desc.SendCSumL3, desc.SendCSumL4
	if info.Encap != header.EncapNone {
		l3, l4 = desc.SendCSumInnerL3, desc.SendCSumInnerL4
	}
	if want&l4 != 0 {
		fillTransport(b, int(info.L4), transportEnd(info, b), int(info.Net), info.Proto)
	}
	if want&l3 != 0 {
		fillIP(b, int(info.Net))
	}
	if info.Encap == header.EncapNone {
		return
	}
	if want&desc.SendCSumL4 != 0 && info.Encap == header.EncapVXLAN &&
		info.Flags&header.FlagFragment == 0 {
		fillTransport(b, int(info.Tunnel), tunnelEnd(info, b), int(info.Outer), header.ProtoUDP)
	}
	if want&desc.SendCSumL3 != 0 {
		fillIP(b, int(info.Outer))
	}
}

// fillIP writes the checksum of the IP header at off; IPv6 has none.
func fillIP(b []byte, off int) {
	if b[off]>>4 != 4 {
		return
	}
	end := off + header.IPv4At(b, off).HeaderLen()
	if end > len(b) {
		return
	}
	h := b[off:end]
	putSum(h, header.IPv4Sum, 0)
	putSum(h, header.IPv4Sum, ^checksum.Sum(h))
}

// fillTransport writes the checksum of the TCP or UDP segment b[l4:end], in the
// IP packet at net; end 0: there is none. UDP sends a sum of 0 as 0xffff, for 0
// means that there is none (RFC 768).
func fillTransport(b []byte, l4, end, net int, proto uint8) {
	if end == 0 {
		return
	}
	segment, at := b[l4:end], header.TCPSum
	if proto == header.ProtoUDP {
		at = header.UDPSum
	}
	putSum(segment, at, 0)
	head := checksum.Pseudo(b[net:], proto, len(segment))
	whole := checksum.Combine(checksum.Sum(segment), head, false)
	if whole == valid && proto == header.ProtoUDP {
		whole = 0
	}
	putSum(segment, at, ^whole)
}

func putSum(b []byte, at int, v uint16) { binary.BigEndian.PutUint16(b[at:], v) }
