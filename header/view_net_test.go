package header

import "testing"

func TestIPv4View(t *testing.T) {
	raw := []byte{0x46, 0xb9, 0x05, 0xdc, 0x12, 0x34, 0x20, 0xb9, 0x40, 0x11, 0xbe, 0xef,
		10, 0, 0, 1, 192, 168, 1, 2, 1, 1, 1, 0}
	h := IPv4At(raw, 0)
	want(t, "Version", h.Version(), uint8(4))
	want(t, "HeaderLen", h.HeaderLen(), 24)
	want(t, "TOS", h.TOS(), uint8(0xb9))
	want(t, "TotalLen", h.TotalLen(), uint16(1500))
	want(t, "ID", h.ID(), uint16(0x1234))
	want(t, "Fragment", h.Fragment(), uint16(IPv4MF|185))
	want(t, "FragmentOffset", h.FragmentOffset(), 1480)
	want(t, "IsFragment", h.IsFragment(), true)
	want(t, "TTL", h.TTL(), uint8(64))
	want(t, "Proto", h.Proto(), uint8(ProtoUDP))
	want(t, "Checksum", h.Checksum(), uint16(0xbeef))
	want(t, "Src", *h.Src(), [4]byte{10, 0, 0, 1})
	want(t, "Dst", *h.Dst(), [4]byte{192, 168, 1, 2})
	b := append(make([]byte, 20), 1, 1, 1, 0)
	w := IPv4At(b, 0)
	w.SetHeaderLen(24)
	w.SetTOS(0xb9)
	w.SetTotalLen(1500)
	w.SetID(0x1234)
	w.SetFragment(IPv4MF | 185)
	w.SetTTL(64)
	w.SetProto(ProtoUDP)
	w.SetChecksum(0xbeef)
	*w.Src(), *w.Dst() = [4]byte{10, 0, 0, 1}, [4]byte{192, 168, 1, 2}
	wantBytes(t, b, raw)
}

func TestIPv4Fragments(t *testing.T) {
	for field, is := range map[uint16]bool{
		0: false, IPv4DF: false, IPv4Evil | IPv4DF: false, IPv4MF: true, 1: true, 0x1fff: true,
	} {
		var h IPv4
		h.SetFragment(field)
		want(t, "IsFragment", h.IsFragment(), is)
	}
}

func TestOptions(t *testing.T) {
	four := []byte{1, 2, 3, 4}
	b := append(append(make([]byte, 23), four...), 9)
	b[3] = 0x46
	want(t, "IPv4", IPv4Options(b, 3), four)
	want(t, "cut", IPv4Options(b[:26], 3), []byte(nil))
	want(t, "none", IPv4Options([]byte{0: 0x45, 30: 0}, 0), []byte(nil))
	want(t, "malformed", IPv4Options([]byte{0: 0x42, 30: 0}, 0), []byte(nil))
	want(t, "cap", cap(IPv4Options(b, 3)), 4)

	b[3], b[3+12] = 0, 0x60
	want(t, "TCP", TCPOptions(b, 3), four)
	want(t, "cut", TCPOptions(b[:26], 3), []byte(nil))
	want(t, "none", TCPOptions([]byte{12: 0x50, 30: 0}, 0), []byte(nil))

	b[3+12], b[3] = 0, 4
	want(t, "GENEVE", GENEVEOptions(b, 3), append(make([]byte, 12), four...))
}

func TestIPv6View(t *testing.T) {
	raw := []byte{0x6a, 0xb1, 0x23, 0x45, 0x05, 0xb4, 0x2c, 0xff,
		1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
		3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}
	h := IPv6At(raw, 0)
	want(t, "Version", h.Version(), uint8(6))
	want(t, "TrafficClass", h.TrafficClass(), uint8(0xab))
	want(t, "FlowLabel", h.FlowLabel(), uint32(0x12345))
	want(t, "PayloadLen", h.PayloadLen(), uint16(1460))
	want(t, "NextHeader", h.NextHeader(), uint8(ProtoFragment))
	want(t, "HopLimit", h.HopLimit(), uint8(255))
	want(t, "Src", *h.Src(), [16]byte{0: 1, 15: 2})
	want(t, "Dst", *h.Dst(), [16]byte{0: 3, 15: 4})
	var w IPv6
	w.SetFirst(0xab, 0x12345)
	w.SetPayloadLen(1460)
	w.SetNextHeader(ProtoFragment)
	w.SetHopLimit(255)
	*w.Src(), *w.Dst() = [16]byte{0: 1, 15: 2}, [16]byte{0: 3, 15: 4}
	wantBytes(t, w[:], raw)
}

func TestIPv6ExtView(t *testing.T) {
	raw := []byte{6, 255, 1, 4, 0, 0, 0, 0}
	h := IPv6ExtAt(raw, 0)
	want(t, "NextHeader", h.NextHeader(), uint8(ProtoTCP))
	want(t, "HeaderLen", h.HeaderLen(), 2048)
	w := IPv6Ext{2: 1, 3: 4}
	w.SetNextHeader(ProtoTCP)
	w.SetHeaderLen(2048)
	wantBytes(t, w[:], raw)
	w.SetHeaderLen(8)
	want(t, "HeaderLen of 0", w.HeaderLen(), 8)
	want(t, "length byte", w[1], byte(0))
}

// Offset 185 units with more to come is 05 c9 (facts/gro.md G 61).
func TestIPv6FragmentView(t *testing.T) {
	raw := []byte{17, 0, 0x05, 0xc9, 0xde, 0xad, 0xbe, 0xef}
	h := IPv6FragmentAt(raw, 0)
	want(t, "NextHeader", h.NextHeader(), uint8(ProtoUDP))
	want(t, "Offset", h.Offset(), 1480)
	want(t, "More", h.More(), true)
	want(t, "ID", h.ID(), uint32(0xdeadbeef))
	var w IPv6Fragment
	w.SetNextHeader(ProtoUDP)
	w.SetFragment(1480, true)
	w.SetID(0xdeadbeef)
	wantBytes(t, w[:], raw)
	w.SetFragment(65528, false)
	wantBytes(t, w[2:4], []byte{0xff, 0xf8})
	want(t, "More", w.More(), false)
}
