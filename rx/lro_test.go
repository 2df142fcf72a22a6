package rx

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// lroFrame is 66 bytes of headers, or 86 over IPv6, and payload.
func lroFrame(v6 bool, payload int) []byte {
	if !v6 {
		return stamped(66 + payload)
	}
	f := stamped(86 + payload)
	binary.BigEndian.PutUint16(f[12:], 0x86dd)
	clear(f[14:86])
	f[14], f[20], f[21] = 0x60, 6, 64
	f[54+12], f[54+13] = 0x80, 0x10
	for i := range 32 {
		f[22+i] = byte(i)
	}
	return f
}

// The headers of a merged packet are those of one large segment, checksums
// good, and it is cut into what it was made of: 3 x 1448 behind 66 bytes give
// a size of 1448, not 1470 (facts/mlx5e.md 4.6, 12: bugs 1, 2 and 44).
func TestLRO(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, copied := range []HeaderCopy{Parsed, Fixed256} {
			frame := lroFrame(v6, 3*1448)
			hdr := len(frame) - 3*1448
			q, d := open(t, Config{HeaderCopy: copied, Offloads: Offloads{LRO: true}}, poisoned())
			d.send(frame)
			c := d.last()
			c.SetLROSegs(3)
			c.SetLROMinTTL(17)
			c.SetLROAck(0x01020304)
			c.SetLROWindow(0x5678)
			c.SetLROPush(true)
			c.SetHdrType(desc.HdrTCPAckData)
			c.SetCheckSum(checksum.Sum(frame[hdr:]))
			d.plain()
			b := receive(t, q)
			p := b.At(0)
			want := packet.GSO{Size: 1448, Segs: 3, HdrLen: uint16(hdr),
				CSumStart: uint16(hdr - 32), CSumOffset: 16, Type: packet.GSOTCPv4}
			if v6 {
				want.Type = packet.GSOTCPv6
			}
			if got := p.Shared().GSO; got != want || p.Flags != packet.FlagLRO ||
				p.CSumKind != packet.CSumValid {
				t.Errorf("gso %+v, want %+v", got, want)
			}
			checkMerged(t, contents(b, 0), frame, v6)
			s := q.Stats()
			if s.Packets != 3 || s.Delivered != 1 || s.LROPackets != 1 ||
				s.LROBytes != uint64(len(frame)) || !s.Balanced() {
				t.Errorf("%+v", s)
			}
			q.Free(b)
		}
	}
}

func checkMerged(t *testing.T, got, frame []byte, v6 bool) {
	t.Helper()
	net, l4 := 14, 34
	var pseudo uint16
	if v6 {
		l4 = 54
		if got[21] != 17 || int(binary.BigEndian.Uint16(got[18:])) != len(frame)-54 {
			t.Error("IPv6 header is wrong")
		}
		pseudo = checksum.Pseudo6(got[22:38], got[38:54], 6, len(frame)-l4)
	} else {
		if got[22] != 17 || int(binary.BigEndian.Uint16(got[16:])) != len(frame)-14 ||
			checksum.Sum(got[net:l4]) != 0xffff {
			t.Error("IPv4 header is wrong")
		}
		pseudo = checksum.Pseudo4(got[26:30], got[30:34], 6, len(frame)-l4)
	}
	if checksum.Combine(checksum.Sum(got[l4:]), pseudo, false) != 0xffff {
		t.Error("TCP checksum is wrong")
	}
	tcp := got[l4:]
	if binary.BigEndian.Uint32(tcp[8:]) != 0x01020304 ||
		binary.BigEndian.Uint16(tcp[14:]) != 0x5678 || tcp[13] != 0x18 {
		t.Errorf("ack %x, window %x, flags %#x", tcp[8:12], tcp[14:16], tcp[13])
	}
	if !bytes.Equal(got[l4+32:], frame[l4+32:]) {
		t.Error("payload differs")
	}
}

// Without the ACK types the fields of the first segment stay, and no push is
// no push.
func TestLROWithoutAck(t *testing.T) {
	frame := lroFrame(false, 2*1448)
	frame[47] = 0x18
	q, d := open(t, Config{Offloads: Offloads{LRO: true}}, nil)
	d.send(frame)
	d.last().SetLROSegs(2)
	d.last().SetLROAck(1)
	d.last().SetHdrType(desc.HdrTCP)
	d.plain()
	b := receive(t, q)
	if tcp := b.Head(0)[34:]; tcp[13] != 0x10 || !bytes.Equal(tcp[8:12], frame[42:46]) {
		t.Errorf("flags %#x, ack %x", tcp[13], tcp[8:12])
	}
	q.Free(b)
}

// A device that says it merged what is not TCP is not believed.
func TestLROOfSomethingElse(t *testing.T) {
	fragment := lroFrame(false, 3000)
	binary.BigEndian.PutUint16(fragment[20:], 0x2000)
	for name, frame := range map[string][]byte{
		"udp": ipv4Frame(3000, 17), "fragment": fragment, "no payload": stamped(66),
		"short": tcpFrame(54)[:40], "arp": append(make([]byte, 12), 8, 6, 0, 0),
	} {
		q, d := open(t, Config{Offloads: Offloads{LRO: true}}, nil)
		d.send(frame)
		d.last().SetLROSegs(2)
		d.plain()
		b := receive(t, q)
		s := q.Stats()
		if b.Len() != 0 || s.Drops[packet.DropBadCQE] != 1 || s.Recover != 1 || !s.Balanced() {
			t.Errorf("%s: %d packets, %+v", name, b.Len(), s)
		}
		if k := q.Books(); k.Packets != 0 || k.Heads != 0 || k.Held != 0 {
			t.Errorf("%s: %+v", name, k)
		}
	}
}
