package rr

import (
	"encoding/binary"
	"fmt"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// Where the headers of a segment lie, in bytes.
const (
	ip  = header.EthernetBytes
	tcp = ip + header.IPv4Bytes

	PlainBytes   = tcp + header.TCPBytes // headers without options
	StampedBytes = PlainBytes + 12       // with the timestamp option (RFC 7323), as most are
)

// A Profile names a workload as uperf's users do: rr1c-REQUESTxRESPONSE-CONNS.
type Profile struct {
	Request, Response int // bytes of payload
	Conns             int // each with one transaction outstanding
}

func (p Profile) String() string {
	return fmt.Sprintf("rr1c-%dx%d-%d", p.Request, p.Response, p.Conns)
}

// FrameBytes is the length of a response on the wire.
func (p Profile) FrameBytes() int { return StampedBytes + p.Response }

// most is what a segment may carry at MTU 1500.
const most = header.EthernetBytes + 1500 - StampedBytes

func (p Profile) check() error {
	if p.Request < 1 || p.Request > most || p.Response < 1 || p.Response > most {
		return fmt.Errorf("rr: %s: want 1 to %d bytes each way", p, most)
	}
	if p.Conns < 1 || p.Conns > maxConns {
		return fmt.Errorf("rr: %s: want 1 to %d connections", p, maxConns)
	}
	return nil
}

// An end is one side of a connection.
type end struct {
	mac  [6]byte
	ip   [4]byte
	port uint16
}

// Connection n is told by the port of the client.
const (
	maxConns = 60000
	portBase = 1024
)

var serverEnd = end{mac: [6]byte{2, 0, 0, 0, 0, 1}, ip: [4]byte{10, 1, 0, 1}, port: 20000}

func clientEnd(n int) end {
	return end{[6]byte{2, 0, 0, 0, 0, 2}, [4]byte{10, 1, 0, 2}, portBase + uint16(n)}
}

// write fills h, PlainBytes or StampedBytes, with the headers of a segment of n
// bytes. Sequence numbers, identification, times and checksums stay 0.
func write(h []byte, from, to end, n int) {
	eth := header.EthernetAt(h, 0)
	*eth.Dst(), *eth.Src() = to.mac, from.mac
	eth.SetType(header.TypeIPv4)
	i := header.IPv4At(h, ip)
	i.SetHeaderLen(header.IPv4Bytes)
	i.SetTotalLen(uint16(len(h) - ip + n))
	i.SetFragment(header.IPv4DF)
	i.SetTTL(64)
	i.SetProto(header.ProtoTCP)
	*i.Src(), *i.Dst() = from.ip, to.ip
	t := header.TCPAt(h, tcp)
	t.SetSrcPort(from.port)
	t.SetDstPort(to.port)
	t.SetHeaderLen(len(h) - tcp)
	t.SetFlags(header.TCPAck | header.TCPPsh)
	t.SetWindow(512)
	if len(h) == StampedBytes {
		copy(h[PlainBytes:], []byte{1, 1, 8, 10}) // NOP, NOP, kind, length
	}
}

// pseudo is the sum of the pseudo header of a segment with headers h and n
// bytes of payload.
func pseudo(h []byte, n int) uint16 {
	i := header.IPv4At(h, ip)
	return checksum.Pseudo4(i.Src()[:], i.Dst()[:], header.ProtoTCP, len(h)-tcp+n)
}

// stamp is the clock of a host: a tick a segment, so that all bytes on the wire
// depend on the seed alone. Both times of a segment are the same.
func stamp(h []byte, tick uint32) {
	binary.BigEndian.PutUint64(h[PlainBytes+4:], uint64(tick)<<32|uint64(tick))
}

// initial is the sequence number that side s of connection n begins with.
func initial(seed uint64, n, s int) uint32 {
	x := (seed + uint64(n)<<1 + uint64(s)) * 0x9e3779b97f4a7c15
	return uint32(x >> 29)
}

// pattern fills the payload of a message. mark, its first byte, is another one
// in each message of a connection.
func pattern(b []byte) {
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
}

func mark(n int, count uint32) byte { return byte(uint32(n) + count) }
