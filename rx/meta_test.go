package rx

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// describeWith sends one frame whose completion edit has changed.
func describeWith(
	t *testing.T, cfg Config, frame []byte, edit func(*desc.CQE),
) (packet.Packet, Stats) {
	t.Helper()
	q, d := open(t, cfg, poisoned())
	d.send(frame)
	edit(d.last())
	d.plain()
	b := receive(t, q)
	if b.Len() != 1 {
		t.Fatalf("%d packets", b.Len())
	}
	defer q.Free(b)
	return *b.At(0), q.Stats()
}

const good = desc.L2OK | desc.L3OK | desc.L4OK

// A verdictCase is a frame, what the device says of it, and what the packet is
// to say.
type verdictCase struct {
	name   string
	use    Checksum
	frame  []byte
	types  desc.HdrType
	ok     desc.Verdict
	segs   uint8
	tunnel bool
	link   header.LinkType
	want   packet.CSum
	level  uint8
}

// The order of facts/mlx5e.md 3.11, and bug 43 of its section 12: short frames
// and SCTP have no use for the device's sum.
func TestChecksum(t *testing.T) {
	sctp, icmp, tagged := ipv4Frame(200, 132), ipv4Frame(200, 1), tcpFrame(200)
	arp, qinq := tcpFrame(200), ipv4Frame(200, 132)
	binary.BigEndian.PutUint16(arp[12:], 0x0806)
	tagged = append(append(tagged[:12:12], 0x81, 0, 0, 5), tagged[12:]...)
	qinq = append(append(qinq[:12:12], 0x88, 0xa8, 0, 5, 0x81, 0, 0, 6), qinq[12:]...)
	ip6 := append(tcpFrame(60)[:12], 0x86, 0xdd, 0x60, 0, 0, 0, 0, 60, 132)
	ip6 = append(ip6, make([]byte, 100)...)
	const off, verdict = ChecksumOff, ChecksumVerdict
	const none, valid, complete = packet.CSumNone, packet.CSumValid, packet.CSumComplete
	const tcp, udp = desc.HdrIPv4 | desc.HdrTCPAckData, desc.HdrIPv4 | desc.HdrUDP
	for _, c := range []verdictCase{
		{name: "off", use: off, frame: tcpFrame(200), types: tcp, ok: good, want: none},
		{name: "off, merged", use: off, frame: tcpFrame(200), segs: 1, want: none},
		{name: "merged", frame: tcpFrame(200), types: tcp, segs: 1, want: valid},
		{name: "tcp", frame: tcpFrame(200), types: tcp, ok: good, want: complete},
		{name: "udp", frame: ipv4Frame(200, 17), types: udp, want: complete},
		{name: "verdict", use: verdict, frame: tcpFrame(200), types: tcp, ok: good, want: valid},
		{name: "bad", use: verdict, frame: tcpFrame(200), types: tcp, ok: desc.L3OK, want: none},
		{name: "64 bytes", frame: tcpFrame(64), types: tcp, ok: good, want: valid},
		{name: "64 bytes, bad", frame: tcpFrame(64), types: tcp, want: none},
		{name: "65 bytes", frame: tcpFrame(65), types: tcp, want: complete},
		{name: "icmp", frame: icmp, types: desc.HdrIPv4, want: complete},
		{name: "sctp", frame: sctp, types: desc.HdrIPv4, want: none},
		{name: "sctp behind two tags", frame: qinq, want: none},
		{name: "sctp over IPv6", frame: ip6, types: desc.HdrIPv6, want: none},
		{name: "arp", frame: arp, want: none},
		{name: "a tag in the frame", frame: tagged, want: complete},
		{name: "tunnel", use: verdict, frame: ipv4Frame(200, 17), types: udp, ok: good,
			tunnel: true, want: valid, level: 1},
		{name: "not Ethernet", frame: tcpFrame(200)[14:], types: tcp, ok: good,
			link: header.LinkRaw, want: valid},
	} {
		c.check(t)
	}
}

func (c *verdictCase) check(t *testing.T) {
	t.Helper()
	cfg := Config{Offloads: Offloads{Checksum: c.use}}
	p, s := describeWith(t, cfg, c.frame, func(cqe *desc.CQE) {
		cqe.SetHdrType(c.types)
		cqe.SetVerdict(c.ok)
		cqe.SetLROSegs(c.segs)
		cqe.SetTunneled(c.tunnel)
		cqe.SetCheckSum(0x1234)
		cqe.SetFlowMeta(uint32(c.link))
	})
	if p.CSumKind != c.want || p.Level != c.level ||
		(p.CSum == 0x1234) != (c.want == packet.CSumComplete) {
		t.Errorf("%s: checksum %d, sum %#x, level %d", c.name, p.CSumKind, p.CSum, p.Level)
	}
	var want [4]uint64
	switch {
	case c.want == packet.CSumComplete:
		want[0] = 1
	case c.want == packet.CSumValid && c.tunnel:
		want[2] = 1
	case c.want == packet.CSumValid:
		want[1] = 1
	default:
		want[3] = 1
	}
	got := [4]uint64{s.CSumComplete, s.CSumUnnecessary, s.CSumUnnecessaryInner, s.CSumNone}
	if got != want {
		t.Errorf("%s: counters %v, want %v", c.name, got, want)
	}
}

func TestHashTagTimeMark(t *testing.T) {
	edit := func(c *desc.CQE) {
		c.SetHash(0xdeadbeef)
		c.SetHashType(desc.HashIPv6 | desc.HashUDP)
		c.SetHdrType(desc.HdrVLANStripped)
		c.SetVLAN(0xa123)
		c.SetTimestamp(1 << 60)
		c.SetFlowTag(0xffabcdef)
	}
	p, s := describeWith(t, Config{Offloads: Offloads{Timestamps: true}}, tcpFrame(60), edit)
	if p.Hash != 0xdeadbeef || p.HashType != packet.HashL4 || p.TagType != 0x8100 ||
		p.TagTCI != 0xa123 || p.Timestamp != 1<<60 || p.Mark != 0xabcdef ||
		s.RemovedVLANPackets != 1 {
		t.Errorf("%+v", p)
	}
	p, _ = describeWith(t, Config{}, tcpFrame(60), func(c *desc.CQE) {
		edit(c)
		c.SetHdrType(0)
		c.SetHashType(desc.HashIPv4)
	})
	if p.HashType != packet.HashL3 || p.TagType != 0 || p.TagTCI != 0 || p.Timestamp != 0 {
		t.Errorf("%+v", p)
	}
}

// A record that was used before keeps nothing of its last packet.
func TestNothingStaysInARecord(t *testing.T) {
	q, d := open(t, Config{Memory: Memory{Packets: 1}}, nil)
	d.send(tcpFrame(200))
	c := d.last()
	for i := range c[:44] {
		c[i] = 0xff
	}
	c.SetWQEID(0)
	c.SetFlowMeta(0)
	c.SetTimestamp(9)
	c.SetFlowTag(9)
	d.plain()
	b := receive(t, q)
	b.Drop(0, packet.DropFiltered)
	p := b.At(0)
	p.Next, p.Flags = 77, 0xff
	q.Free(b)
	b, p = one(t, q, d, tcpFrame(60))
	if p.Next != 0 || p.Flags != 0 || p.Drop != 0 || p.HashType != 0 || p.TagType != 0 ||
		p.TagTCI != 0 || p.CSumKind != 0 || p.Level != 0 || p.Mark != 0 || p.Timestamp != 0 {
		t.Errorf("%+v", p)
	}
	q.Free(b)
}

// The CE bit marks the packet, and the header if the sender knows ECN; the
// sums stay right (facts/mlx5e.md 3.11).
func TestCongestionMark(t *testing.T) {
	ip6 := make([]byte, 120)
	binary.BigEndian.PutUint16(ip6[12:], 0x86dd)
	ip6[14], ip6[20], ip6[18+1] = 0x60, 17, 66
	ip6tagged := append(append(ip6[:12:12], 0x81, 0, 0, 5), ip6[12:]...)
	for _, c := range []struct {
		name     string
		frame    []byte
		net, ecn int
		want     int
		marks    uint64
	}{
		{"not capable", tcpFrame(120), 14, 0, 0, 0},
		{"capable, 1", tcpFrame(120), 14, 1, 3, 1},
		{"capable, 2", tcpFrame(120), 14, 2, 3, 1},
		{"marked already", tcpFrame(120), 14, 3, 3, 1},
		{"ipv6", ip6, 14, 2, 3, 1},
		{"ipv6 not capable", ip6, 14, 0, 0, 0},
		{"ipv6 tagged", ip6tagged, 18, 1, 3, 1},
	} {
		frame := append([]byte{}, c.frame...)
		v6 := frame[c.net]>>4 == 6
		if v6 {
			frame[c.net+1] |= byte(c.ecn << 4)
		} else {
			frame[c.net+1] |= byte(c.ecn)
			binary.BigEndian.PutUint16(frame[c.net+10:], 0)
			binary.BigEndian.PutUint16(frame[c.net+10:], ^checksum.Sum(frame[c.net:c.net+20]))
		}
		q, d := open(t, Config{}, poisoned())
		d.send(frame)
		d.last().SetCEMark(true)
		d.last().SetCheckSum(checksum.Sum(frame[14:]))
		d.plain()
		b := receive(t, q)
		p, h := b.At(0), b.Head(0)[c.net:]
		got := int(h[1] & 3)
		if v6 {
			got = int(h[1] >> 4 & 3)
		}
		if got != c.want || p.Flags != packet.FlagECNMark || q.Stats().ECNMark != c.marks {
			t.Errorf("%s: ECN %d, flags %d, %d counted", c.name, got, p.Flags, q.Stats().ECNMark)
		}
		if !v6 && checksum.Sum(h[:20]) != 0xffff {
			t.Errorf("%s: header checksum is wrong", c.name)
		}
		if sum := checksum.Sum(b.Head(0)[14:]); p.CSumKind != packet.CSumComplete || p.CSum != sum {
			t.Errorf("%s: sum %#x, want %#x", c.name, p.CSum, sum)
		}
		q.Free(b)
	}
}
