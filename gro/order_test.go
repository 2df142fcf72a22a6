package gro

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
)

// ports are one segment of 100 bytes on each source port, seq 1000 times it.
func ports(n, offset, id int) (frames [][]byte) {
	for p := 1; p <= n; p++ {
		frames = append(frames, tcp4(ipHdr{id: id}, tcpSeg{seq: 1000*p + offset, n: 100, src: p}))
	}
	return frames
}

var orderCases = []frameCase{
	{"plain,opt,plain (seq+len, order)", [][]byte{tcp4(ipHdr{id: 1}, seg(0, 100)),
		tcp4(ipHdr{id: 2, options: []byte{1, 1, 1, 0}}, seg(100, 100)),
		tcp4(ipHdr{id: 3}, seg(200, 100))}},
	{"plain,badcsum,plain,plain", tcps(seg(0, 100), tcpSeg{seq: 100, n: 100, bad: true},
		seg(200, 100), seg(300, 100))},
	{"plain,frag(MF),plain", [][]byte{tcp4(ipHdr{id: 1}, seg(0, 100)),
		tcp4(ipHdr{id: 2, fragment: 0x2000}, seg(100, 100)), tcp4(ipHdr{id: 3}, seg(200, 100))}},
	{"plain,SYN0,plain,plain", tcps(seg(0, 100), flagged(100, 0, header.TCPSyn), seg(100, 100),
		seg(200, 100))},
	{"plain,RST,plain", tcps(seg(0, 100), flagged(100, 0, header.TCPRst), seg(100, 100))},
	{"plain,URG same,plain", tcps(seg(0, 100), flagged(100, 100, ack|header.TCPUrg),
		seg(200, 100))},
	{"PSH first then 2", tcps(flagged(0, 100, ack|psh), seg(100, 100), seg(200, 100))},
	{"A1 B1 A2(bad seq) B2", [][]byte{tcp4(ipHdr{id: 1}, seg(0, 100)),
		tcp4(ipHdr{id: 1}, tcpSeg{n: 100, src: 9}), tcp4(ipHdr{id: 2}, seg(150, 100)),
		tcp4(ipHdr{id: 2}, tcpSeg{seq: 100, n: 100, src: 9})}},
	{"10 flows, evict order", ports(10, 0, 1)},
	{"8 flows x2", append(ports(8, 0, 1), ports(8, 100, 2)...)},
	{"dup segment", tcps(seg(0, 100), seg(0, 100), seg(100, 100))},
	{"overlap", tcps(seg(0, 100), seg(50, 100))},
	{"keepalive 1 byte below", tcps(seg(100, 100), seg(99, 1))},
	{"window probe ack only in mid", tcps(seg(0, 100), seg(100, 0), seg(100, 100), seg(200, 100))},
}

// Where Linux lets a packet overtake a held one of its flow, it does not here.
var orderDiffers = map[string]string{
	"plain,opt,plain (seq+len, order)": "0+100 100+100 200+100",
	"plain,badcsum,plain,plain":        "0+100 100+100 200+200",
	"plain,frag(MF),plain":             "0+100 100+100 200+100",
}

// inOrder writes packets as seq+payload, and flags that are not ACK.
func inOrder(out []outcome) string {
	var words []string
	for _, o := range out {
		var i header.Info
		header.Parse(header.LinkEthernet, o.data, nil, &i)
		h := header.TCPAt(o.data, int(i.L4))
		w := fmt.Sprintf("%d+%d", h.Seq(), len(o.data)-int(i.Payload))
		if h.Flags() != ack {
			w += fmt.Sprintf("F%02x", h.Flags())
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestOrder(t *testing.T) {
	want := linux(t, "order")
	for _, c := range orderCases {
		answer := want[c.name]
		if ours, ok := orderDiffers[c.name]; ok {
			answer = ours
		}
		out, verdicts := merge(t, Config{Buckets: 1}, c.frames...)
		if got := inOrder(out); got != answer {
			t.Errorf("%s: %s, want %s\n%v", c.name, got, answer, verdicts)
		}
		checkLaws(t, Config{}, c.frames, out)
		delete(want, c.name)
	}
	for name := range want {
		t.Errorf("no case for %q", name)
	}
}

// TestNothingOvertakes: a packet that passes lets the held one of its flow go
// first, whatever keeps the two apart: link address, tag, flow label, tunnel,
// or that its ports are not there.
func TestNothingOvertakes(t *testing.T) {
	first := tcp4(ipHdr{id: 1}, seg(0, 100))
	first6 := tcp6(ipHdr{}, seg(0, 100))
	for name, frames := range map[string][][]byte{
		"other MAC address": otherMAC([][]byte{first,
			tcp4(ipHdr{id: 2}, flagged(100, 100, ack|psh))}),
		"other tag":       {first, vlan(tcp4(ipHdr{id: 2}, flagged(100, 100, ack|psh)), 5)},
		"flow label":      {first6, tcp6(ipHdr{label: 1}, flagged(100, 100, ack|psh))},
		"inside a tunnel": {first, ipip(ipHdr{}, tcp4(ipHdr{id: 2}, flagged(100, 100, ack|psh)))},
		"later fragment":  {first, tcp4(ipHdr{id: 2, fragment: 5}, seg(100, 100))},
		"later fragment, IPv6": {first6, tcp6(ipHdr{next: 44, ext: []byte{0, 0, 40, 0, 0, 0, 1}},
			seg(100, 100))},
		"ports cut off": {first, tcp4(ipHdr{id: 2}, seg(100, 0))[:36]},
		"GRE with sequence number": {first, gre(ipHdr{}, header.GRESeq, be(4, 1),
			tcp4(ipHdr{id: 2}, seg(100, 100)))},
	} {
		frames = append(frames, frames[0])
		frames[2] = tcp4(ipHdr{id: 2, v6: frames[0][14]>>4 == 6}, seg(100, 100))
		out, verdicts := merge(t, Config{}, frames...)
		if len(out) != 3 || string(out[0].data) != string(frames[0]) ||
			string(out[1].data) != string(frames[1]) {
			t.Errorf("%s: %s\n%v", name, text(out), verdicts)
		}
	}
	other := tcp4(ipHdr{id: 2, addr: 7, fragment: 5}, seg(100, 100))
	out, _ := merge(t, Config{}, first, other, tcp4(ipHdr{id: 2}, seg(100, 100)))
	if len(out) != 2 {
		t.Errorf("a fragment of other addresses: %s, want two packets", text(out))
	}
}

// An empty segment whose tunnel has no checksum is of another flow for Linux,
// which holds on to the packet in front of it. Here that packet goes first, and
// it counts as ordered.
func TestEmptyInOtherTunnelIsOrdered(t *testing.T) {
	m, err := NewMerger(Config{Buckets: 1, VXLAN: []uint16{header.PortVXLAN}})
	if err != nil {
		t.Fatal(err)
	}
	const vni, port = 7, 5000
	m.Add(vxlan(ipHdr{id: 1}, vni, port, true, tcp4(ipHdr{id: 1}, seg(0, 100))))
	m.Add(vxlan(ipHdr{id: 2}, vni, port, false, tcp4(ipHdr{id: 2}, seg(100, 0))))
	m.Add(vxlan(ipHdr{id: 2}, vni, port, true, tcp4(ipHdr{id: 2}, seg(100, 100))))
	out := collect(m)
	if len(out) != 3 || m.Stats().Ordered != 1 {
		t.Errorf("%d packets, %d ordered, want 3 and 1", len(out), m.Stats().Ordered)
	}
}
