package rr

import (
	"bytes"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// A fault is what is wrong with a segment; "" if nothing is.
type fault string

const (
	badLength   fault = "its length is wrong"
	badHeader   fault = "it is no TCP segment of this connection"
	badIPSum    fault = "the checksum of its IPv4 header is wrong"
	badTCPSum   fault = "its TCP checksum is wrong"
	badSequence fault = "it is not in sequence"
	badPayload  fault = "its payload is not what was sent"
	unexpected  fault = "nothing was asked for"
)

// inspect looks at a segment with h bytes of headers and the payload that is
// expected from its second byte on. The addresses, ports and numbers are the
// caller's to compare.
func inspect(frame []byte, h int, payload []byte) fault {
	if len(frame) != h+len(payload) {
		return badLength
	}
	i, t := header.IPv4At(frame, ip), header.TCPAt(frame, tcp)
	if header.EthernetAt(frame, 0).Type() != header.TypeIPv4 || frame[ip] != 0x45 ||
		int(i.TotalLen()) != len(frame)-ip || i.IsFragment() ||
		i.Proto() != header.ProtoTCP || t.HeaderLen() != h-tcp {
		return badHeader
	}
	if checksum.Sum(frame[ip:tcp]) != 0xffff {
		return badIPSum
	}
	sum := checksum.Combine(pseudo(frame[:h], len(payload)), checksum.Sum(frame[tcp:]), false)
	if sum != 0xffff {
		return badTCPSum
	}
	if !bytes.Equal(frame[h+1:], payload[1:]) {
		return badPayload
	}
	return ""
}

// between says whether a segment goes from one end to the other.
func between(frame []byte, from, to *end) bool {
	eth, i := header.EthernetAt(frame, 0), header.IPv4At(frame, ip)
	t := header.TCPAt(frame, tcp)
	return *eth.Src() == from.mac && *eth.Dst() == to.mac &&
		*i.Src() == from.ip && *i.Dst() == to.ip &&
		t.SrcPort() == from.port && t.DstPort() == to.port
}
