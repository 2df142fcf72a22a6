package nic

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

const (
	l2   = desc.L2OK
	l23  = desc.L2OK | desc.L3OK
	l234 = desc.L2OK | desc.L3OK | desc.L4OK
	l24  = desc.L2OK | desc.L4OK

	data4  = desc.HdrIPv4 | desc.HdrTCPAckData
	ack4   = desc.HdrIPv4 | desc.HdrTCPAck
	udpIn4 = desc.HdrIPv4 | desc.HdrUDP
)

// change returns the frame with one byte XORed.
func change(f []byte, at int, x byte) []byte {
	f = bytes.Clone(f)
	f[at] ^= x
	return f
}

func gre4(checksummed bool, inner []byte) []byte {
	b := append([]byte{0, 0, 8, 0}, inner...)
	if checksummed {
		b = append([]byte{0x80, 0, 8, 0, 0, 0, 0, 0}, inner...)
		binary.BigEndian.PutUint16(b[4:], ^checksum.Sum(b))
	}
	return ethernet(header.TypeIPv4, ip4(header.ProtoGRE, b))
}

func TestLabels(t *testing.T) {
	ack := segment{flags: header.TCPAck, payload: 100}
	syn := segment{flags: header.TCPSyn}
	pure := segment{flags: header.TCPAck}
	plain := tcp4(ack)
	zeroUDP := udp4(100)
	zeroUDP[40], zeroUDP[41] = 0, 0
	fragment := ip4(header.ProtoTCP, tcp(ack))
	fragment[6] = 0x20
	fixIP4(fragment)
	v6udp0 := ethernet(header.TypeIPv6, ip6(header.ProtoUDP, udp(9, pattern(10))))
	v6udp0[60], v6udp0[61] = 0, 0

	for _, test := range []struct {
		name    string
		frame   []byte
		verdict desc.Verdict
		types   desc.HdrType
	}{
		{"TCP with ACK and data", plain, l234, data4},
		{"SYN", tcp4(syn), l234, desc.HdrIPv4 | desc.HdrTCP},
		{"pure ACK", tcp4(pure), l234, ack4},
		{"TCP over IPv6", tcp6(ack), l234, desc.HdrIPv6 | desc.HdrTCPAckData},
		{"UDP", udp4(100), l234, udpIn4},
		{"UDP without checksum", zeroUDP, l234, udpIn4},
		{"that over IPv6", v6udp0, l23, desc.HdrIPv6 | desc.HdrUDP},
		{"TTL changed", change(plain, 22, 1), l24, data4},
		{"payload changed", change(plain, 80, 1), l23, data4},
		{"address changed", change(plain, 26, 1), l2, data4},
		{"cut short", plain[:100], l23, data4},
		{"padded", append(tcp4(pure), pattern(6)...), l234, ack4},
		{"fragment", ethernet(header.TypeIPv4, fragment), l23, desc.HdrIPv4},
		{"IP options", optioned(), l234, udpIn4},
		{"ARP", ethernet(header.TypeARP, pattern(46)), l2, 0},
		{"802.1ad tag stays", tagged(header.TypeQinQ, 5, plain), l234, data4},
	} {
		wantLabel(t, test.name, test.frame, test.verdict, test.types, false)
	}
}

// Of a tunneled packet types and verdict are those of the inner headers, and
// the verdict holds for the outer ones as well.
func TestTunnelLabels(t *testing.T) {
	plain := tcp4(segment{flags: header.TCPAck, payload: 100})
	inner := plain[14:]
	tunnel := vxlan4(plain)
	tunnelSum := bytes.Clone(tunnel) // no outer UDP checksum
	tunnelSum[40], tunnelSum[41] = 0, 0
	for _, test := range []struct {
		name    string
		frame   []byte
		verdict desc.Verdict
	}{
		{"VXLAN", tunnel, l234},
		{"VXLAN, outer UDP without checksum", tunnelSum, l234},
		{"VXLAN, payload changed", change(tunnelSum, 140, 1), l23},
		{"VXLAN, VNI changed", change(tunnel, 47, 1), l23},
		{"VXLAN, outer TTL changed", change(tunnel, 22, 1), l24},
		{"VXLAN, inner TTL changed", change(tunnelSum, 72, 1), l24},
		{"GRE", gre4(false, inner), l234},
		{"GRE with checksum", gre4(true, inner), l234},
		{"GRE with a wrong one", change(gre4(true, inner), 39, 1), l23},
		{"IP in IP", ethernet(header.TypeIPv4, ip4(4, inner)), l234},
	} {
		wantLabel(t, test.name, test.frame, test.verdict, data4, true)
	}
}

func wantLabel(t *testing.T, name string, frame []byte, v desc.Verdict, typ desc.HdrType,
	tunnel bool) {
	t.Helper()
	p := newBench(t, linear1500, Config{}).send(frame)[0]
	if p.Verdict() != v || p.HdrType() != typ || p.Tunneled() != tunnel {
		t.Errorf("%s: verdict %03b, types %#02x, tunneled %v; want %03b, %#02x, %v", name,
			p.Verdict(), p.HdrType(), p.Tunneled(), v, typ, tunnel)
	}
	if want := checksum.Sum(frame[14:]); p.CheckSum() != want {
		t.Errorf("%s: sum %#04x, want %#04x", name, p.CheckSum(), want)
	}
	wantFrames(t, []received{p}, frame)
}

// optioned is a UDP frame with four bytes of IP options.
func optioned() []byte {
	p := ip4(header.ProtoUDP, udp(9, pattern(30)))
	p = append(p[:20:20], append([]byte{1, 1, 1, 0}, p[20:]...)...)
	p[0] = 0x46
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	p[10], p[11] = 0, 0
	binary.BigEndian.PutUint16(p[10:], ^checksum.Sum(p[:24]))
	return ethernet(header.TypeIPv4, p)
}

// The sum covers what is in memory behind the Ethernet header: a stripped tag
// is not in it, a kept one is.
func TestVLAN(t *testing.T) {
	plain := tcp4(segment{flags: header.TCPAck, payload: 64})
	frame := tagged(header.TypeVLAN, 0xa123, plain)
	keep := linear1500
	keep.KeepVLAN = true
	for _, test := range []struct {
		name     string
		layout   layout
		cfg      Config
		frame    []byte
		stripped bool
		want     []byte
	}{
		{"tag", linear1500, Config{}, frame, true, plain},
		{"two tags", linear1500, Config{}, tagged(header.TypeVLAN, 0xa123, frame), true, frame},
		{"tag in 802.1ad", linear1500, Config{}, tagged(header.TypeQinQ, 0xa123, frame), false,
			tagged(header.TypeQinQ, 0xa123, frame)},
		{"vsd", keep, Config{}, frame, false, frame},
		{"feature off", linear1500, Config{Off: VLANStrip}, frame, false, frame},
		{"cut in the tag", linear1500, Config{}, frame[:16], false, frame[:16]},
		{"nothing behind the tag", linear1500, Config{}, frame[:18], true,
			append(bytes.Clone(frame[:12]), frame[16:18]...)},
	} {
		b := newBench(t, test.layout, test.cfg)
		p := b.send(test.frame)[0]
		if p.HdrType().VLANStripped() != test.stripped || test.stripped && p.VLAN() != 0xa123 {
			t.Errorf("%s: stripped %v, TCI %#04x", test.name, p.HdrType().VLANStripped(), p.VLAN())
		}
		wantFrames(t, []received{p}, test.want)
		if want := checksum.Sum(test.want[14:]); p.CheckSum() != want {
			t.Errorf("%s: sum %#04x, want %#04x", test.name, p.CheckSum(), want)
		}
		if len(test.frame) > 18 && p.Verdict() != l234 {
			t.Errorf("%s: verdict %03b", test.name, p.Verdict())
		}
	}
}

func TestCEMark(t *testing.T) {
	for _, test := range []struct {
		frame []byte
		want  bool
	}{
		{udp4(64), false},
		{change(udp4(64), 15, 3), true},
		{change(udp4(64), 15, 2), false},
		{change(tcp6(segment{}), 15, 0x30), true},
		{change(vxlan4(udp4(64)), 15, 3), true},
		{change(vxlan4(udp4(64)), 65, 3), false}, // inner only: not the network's mark
	} {
		b := newBench(t, linear1500, Config{})
		if p := b.send(test.frame)[0]; p.CEMark() != test.want {
			t.Errorf("CE mark %v: % x", p.CEMark(), test.frame[:70])
		}
	}
}

// Frames that are not Ethernet are hashed, checked and summed behind their own
// link header, and the completion says what they are.
func TestLinkTypes(t *testing.T) {
	ip := ip4(header.ProtoTCP, tcp(segment{flags: header.TCPAck, payload: 40}))
	sll := append(append(make([]byte, 14), 8, 0), ip...)
	null := append([]byte{2, 0, 0, 0}, ip...)
	tag := tagged(header.TypeVLAN, 3, ethernet(header.TypeIPv4, ip))
	for _, test := range []struct {
		link    header.LinkType
		frame   []byte
		l2      int
		verdict desc.Verdict
	}{
		{header.LinkRaw, ip, 0, l234},
		{header.LinkSLL, sll, 16, l234},
		{header.LinkNull, null, 4, l234},
		{header.LinkRaw, tag, 0, l2},
		{header.LinkOpaque, ethernet(header.TypeIPv4, ip), 0, l2},
		{200, ethernet(header.TypeIPv4, ip), 0, l2},
	} {
		b := newBench(t, linear1500, Config{})
		b.wire.List = []Frame{{Data: test.frame, Link: test.link}}
		p := b.send()[0]
		wantFrames(t, []received{p}, test.frame)
		sum := checksum.Sum(test.frame[test.l2:])
		if p.CheckSum() != sum || p.Verdict() != test.verdict {
			t.Errorf("link %d: sum %#04x, verdict %03b", test.link, p.CheckSum(), p.Verdict())
		}
		if want := uint32(min(test.link, header.LinkOpaque)); p.FlowMeta() != want {
			t.Errorf("link %d: metadata %d", test.link, p.FlowMeta())
		}
	}
}

func TestTimestamps(t *testing.T) {
	b := newBench(t, linear1500, Config{On: Timestamp})
	b.wire.List = []Frame{{Data: udp4(60), Time: 77}, {Data: udp4(60)}}
	got := b.send()
	if got[0].Timestamp() != 77 || got[1].Timestamp() != 1000 {
		t.Errorf("times %d and %d, want 77 and the clock's 1000",
			got[0].Timestamp(), got[1].Timestamp())
	}
}

// With all features off a completion says nothing but where the frame is.
func TestFeaturesOff(t *testing.T) {
	b := newBench(t, linear1500, Config{Off: DefaultFeatures})
	p := b.send(udp4(100))[0]
	var want desc.CQE
	want.SetHdrType(udpIn4)
	want.SetByteCount(desc.PackByteCount(1, 100))
	want.SetOpOwn(uint8(desc.OpRespSend) << 4)
	if p.CQE != want {
		t.Errorf("completion\n% x, want\n% x", p.CQE, want)
	}
}
