package gro

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// Bugs of other engines as packet sequences (facts/gro.md G); the number of
// each is that of the list there.
var pastBugs = []struct {
	name   string
	config Config
	frames [][]byte
	want   []int // lengths
}{
	{"3: datagrams of a tunnel port are not merged as UDP", vxlanAnd(true), [][]byte{
		vxlan(one, 7, 5000, true, udp4(one, datagram{n: 99})[:20]),
		vxlan(next, 7, 5000, true, udp4(next, datagram{n: 99})[:20])}, []int{70, 70}},
	{"16: twenty VLAN tags", Config{}, [][]byte{tags(20), tags(20)}, []int{234, 234}},
	{"16: Ethernet in GRE, twenty deep", Config{}, [][]byte{deep(20), deep(20)}, []int{914, 914}},
	{"28: Flush gives back every packet of a bucket", Config{Buckets: 1}, ports(8, 0, 1),
		slices.Repeat([]int{154}, 8)},
	{"34: handshake packets are never held", Config{}, tcps(flagged(0, 0, header.TCPSyn),
		seg(1, 0)), []int{54, 54}},
	{"35: DF is not needed", Config{}, two(ipHdr{df0: true}, ipHdr{df0: true}), []int{254}},
	{"39: more fragments", Config{}, two(ipHdr{fragment: 0x2000}, ipHdr{fragment: 0x2000}),
		[]int{154, 154}},
	{"39: TTL", Config{}, two(ipHdr{ttl: 1}, ipHdr{ttl: 2}), []int{154, 154}},
	{"39: hop limit", Config{}, two6(ipHdr{ttl: 1}, ipHdr{ttl: 2}), []int{174, 174}},
	{"40: IPv4 options", Config{}, two(ipHdr{options: make([]byte, 4)},
		ipHdr{options: make([]byte, 4)}), []int{158, 158}},
	{"41: UDP without checksum", Config{UDP: true}, udps(one, datagram{n: 9, zero: true},
		datagram{n: 9, zero: true}), []int{51, 51}},
	{"46, 55: PSH comes last", Config{}, tcps(seg(0, 100), seg(100, 100),
		flagged(200, 100, ack|psh)), []int{354}},
	{"48, 54: a byte and padding", Config{}, padded(tcps(seg(0, 100), seg(100, 1)), 1),
		[]int{154, 60}},
	{"49: TCP header shorter than 20 bytes", Config{},
		[][]byte{doff(0, 4, 100), doff(1, 4, 100)}, []int{154, 154}},
	{"49: TCP header longer than the packet", Config{},
		[][]byte{doff(0, 15, 10), doff(1, 15, 10)}, []int{64, 64}},
	{"50: fragments of TCP", Config{}, two(ipHdr{fragment: 5}, ipHdr{fragment: 5}),
		[]int{154, 154}},
	{"50: IPv6 inside VXLAN", vxlanAnd(false), [][]byte{vx6(0), vx6(1)}, []int{324}},
	{"60: authentication header", Config{}, [][]byte{
		tcp6(ipHdr{next: 51, ext: []byte{4, 0, 0, 0, 0, 0, 1}}, seg(0, 100)),
		tcp6(ipHdr{next: 51, ext: []byte{4, 0, 0, 0, 0, 0, 1}}, seg(100, 100))},
		[]int{182, 182}},
	{"61: fragment at byte 1480, more follow", Config{}, [][]byte{
		tcp6(ipHdr{next: 44, ext: []byte{0, 5, 0xc9, 0, 0, 0, 1}}, seg(0, 100)),
		tcp6(ipHdr{next: 44, ext: []byte{0, 5, 0xc9, 0, 0, 0, 1}}, seg(100, 100))},
		[]int{182, 182}},
	{"62: extension header of 2048 bytes", Config{}, [][]byte{
		tcp6(ipHdr{next: 0, ext: append([]byte{255}, make([]byte, 2046)...)}, seg(0, 1)),
		tcp6(ipHdr{next: 0, ext: append([]byte{255}, make([]byte, 2046)...)}, seg(1, 1))},
		[]int{2123, 2123}},
	{"63: extension headers without end", Config{}, [][]byte{
		onEthernet(ipHdr{v6: true}.wrap(0, make([]byte, 400)))}, []int{454}},
	{"64: transport header behind IPv4 options", Config{}, [][]byte{
		tcp4(ipHdr{options: make([]byte, 40)}, seg(0, 100))}, []int{194}},
}

func TestPastBugs(t *testing.T) {
	for _, c := range pastBugs {
		out, verdicts := merge(t, c.config, c.frames...)
		var got []int
		for _, o := range out {
			got = append(got, len(o.data))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v\n%v", c.name, got, c.want, verdicts)
		}
		checkLaws(t, c.config, c.frames, out)
	}
}

// deep is Ethernet in GRE, n times.
func deep(n int) []byte {
	f := tcp4(ipHdr{}, seg(0, 100))
	for range n {
		f = gretap(ipHdr{}, f)
	}
	return f
}

func tags(n int) []byte {
	f := tcp4(ipHdr{}, seg(0, 100))
	for range n {
		f = vlan(f, 5)
	}
	return f
}

// doff is segment n with a TCP header length of its own.
func doff(n int, size byte, rest int) []byte {
	f := tcp4(ipHdr{id: n}, seg(100*n, rest))
	f[46] = size<<4 | f[46]&15
	return fixed(f)
}

func vx6(n int) []byte {
	return vxlan(ipHdr{id: n}, 7, 5000, false, tcp6(ipHdr{}, seg(100*n, 100)))
}

func vxlanAnd(udp bool) Config { return Config{VXLAN: []uint16{header.PortVXLAN}, UDP: udp} }

func fixed(f []byte) []byte {
	FixChecksums(header.LinkEthernet, f)
	return f
}

// TestPayloadIsUntouched: number 45 and 47, flags that were or-ed into the
// payload, and wrong places in a chain of three and more.
func TestPayloadIsUntouched(t *testing.T) {
	var want []byte
	var segs []tcpSeg
	for i := range 6 {
		s := tcpSeg{seq: 99 * i, n: 99, fill: byte('a' + i)} // odd: number 56
		if i == 5 {
			s.flags = ack | psh | fin
		}
		segs = append(segs, s)
		want = append(want, bytes.Repeat([]byte{s.fill}, 99)...)
	}
	out, _ := merge(t, Config{}, tcps(segs...)...)
	if len(out) != 1 || !bytes.Equal(out[0].data[54:], want) {
		t.Fatalf("%s", text(out))
	}
	if flags := header.TCPAt(out[0].data, 34).Flags(); flags != ack|psh|fin {
		t.Errorf("flags %#x", flags)
	}
}

// TestSlotsAreReused: number 35, a slot whose last use shows through.
func TestSlotsAreReused(t *testing.T) {
	m, err := NewMerger(Config{Buckets: 1})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []func(n int) []byte{
		func(n int) []byte { return tcp4(ipHdr{id: n}, seg(100*n, 100)) },
		func(n int) []byte { return tcp6(ipHdr{}, seg(100*n, 100)) },
		func(n int) []byte { return ipip(ipHdr{}, tcp4(ipHdr{id: n}, seg(100*n, 100))) },
		func(n int) []byte { return vlan(tcp4(ipHdr{id: n}, seg(100*n, 100)), 5) },
		func(n int) []byte {
			return tcp4(ipHdr{id: n}, tcpSeg{seq: 100 * n, n: 100, options: stamp(0, 1)})
		},
	}
	for round := range 200 {
		kind := kinds[round*7%len(kinds)]
		want := len(kind(0)) + 200
		for n := range 3 {
			m.Add(kind(n))
		}
		if out := collect(m); len(out) != 1 || len(out[0].data) != want {
			t.Fatalf("round %d: %s, want %d bytes", round, text(out), want)
		}
	}
}

// TestReservedWordOfGRE: the second half of a GRE checksum word is not
// compared by Linux; here it is, because it could not be restored.
func TestReservedWordOfGRE(t *testing.T) {
	frames := gres(header.GREChecksum, be(4, 0), be(4, 0))
	binary.BigEndian.PutUint16(frames[1][40:], 1)
	frames[1][38], frames[1][39] = 0, 0
	b := frames[1][34:]
	binary.BigEndian.PutUint16(b[4:], ^checksum.Sum(b))
	if out, _ := merge(t, Config{}, frames...); len(out) != 2 {
		t.Errorf("%s", text(out))
	}
}
