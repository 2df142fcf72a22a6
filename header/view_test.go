package header

import (
	"bytes"
	"reflect"
	"testing"
)

// Every view is read from bytes written by hand, and written into zeros and
// compared with the same bytes: reader and writer cannot be wrong in the same
// way.

func want(t *testing.T, name string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func wantBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("written % x\nwant    % x", got, want)
	}
}

func TestEthernetView(t *testing.T) {
	raw := []byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x86, 0xdd}
	h := EthernetAt(raw, 1)
	want(t, "Dst", *h.Dst(), [6]byte{1, 2, 3, 4, 5, 6})
	want(t, "Src", *h.Src(), [6]byte{7, 8, 9, 10, 11, 12})
	want(t, "Type", h.Type(), uint16(TypeIPv6))
	b := make([]byte, 15)
	b[0] = 0xff
	w := EthernetAt(b, 1)
	*w.Dst(), *w.Src() = [6]byte{1, 2, 3, 4, 5, 6}, [6]byte{7, 8, 9, 10, 11, 12}
	w.SetType(TypeIPv6)
	wantBytes(t, b, raw)
}

func TestVLANView(t *testing.T) {
	raw := []byte{0xb1, 0x23, 0x08, 0x00}
	h := VLANAt(raw, 0)
	want(t, "TCI", h.TCI(), uint16(0xb123))
	want(t, "Priority", h.Priority(), uint8(5))
	want(t, "DropEligible", h.DropEligible(), true)
	want(t, "ID", h.ID(), uint16(0x123))
	want(t, "Type", h.Type(), uint16(TypeIPv4))
	var w VLAN
	w.SetTCI(0xb123)
	w.SetType(TypeIPv4)
	wantBytes(t, w[:], raw)
}

func TestARPView(t *testing.T) {
	raw := []byte{0, 1, 8, 0, 6, 4, 0, 2,
		1, 2, 3, 4, 5, 6, 10, 0, 0, 1, 7, 8, 9, 10, 11, 12, 10, 0, 0, 2}
	h := ARPAt(raw, 0)
	want(t, "Hardware", h.Hardware(), uint16(1))
	want(t, "Protocol", h.Protocol(), uint16(TypeIPv4))
	want(t, "Op", h.Op(), uint16(ARPReply))
	want(t, "IsEthernetIPv4", h.IsEthernetIPv4(), true)
	want(t, "SenderMAC", *h.SenderMAC(), [6]byte{1, 2, 3, 4, 5, 6})
	want(t, "SenderIP", *h.SenderIP(), [4]byte{10, 0, 0, 1})
	want(t, "TargetMAC", *h.TargetMAC(), [6]byte{7, 8, 9, 10, 11, 12})
	want(t, "TargetIP", *h.TargetIP(), [4]byte{10, 0, 0, 2})
	var w ARP
	want(t, "IsEthernetIPv4 of zeros", w.IsEthernetIPv4(), false)
	w.SetEthernetIPv4(ARPReply)
	*w.SenderMAC(), *w.SenderIP() = [6]byte{1, 2, 3, 4, 5, 6}, [4]byte{10, 0, 0, 1}
	*w.TargetMAC(), *w.TargetIP() = [6]byte{7, 8, 9, 10, 11, 12}, [4]byte{10, 0, 0, 2}
	wantBytes(t, w[:], raw)
}

func TestPPPoEView(t *testing.T) {
	raw := []byte{0x11, 0x00, 0x12, 0x34, 0x00, 0x7a, 0xc0, 0x21}
	h := PPPoEAt(raw, 0)
	want(t, "Valid", h.Valid(), true)
	want(t, "Session", h.Session(), uint16(0x1234))
	want(t, "Length", h.Length(), uint16(122))
	want(t, "Proto", h.Proto(), uint16(0xc021))
	var w PPPoE
	want(t, "Valid of zeros", w.Valid(), false)
	w.SetSession(0x1234, 0xc021, 120)
	wantBytes(t, w[:], raw)
}

func TestMPLSView(t *testing.T) {
	raw := []byte{0xab, 0xcd, 0xeb, 0x40}
	h := MPLSAt(raw, 0)
	want(t, "Label", h.Label(), uint32(0xabcde))
	want(t, "Class", h.Class(), uint8(5))
	want(t, "Bottom", h.Bottom(), true)
	want(t, "TTL", h.TTL(), uint8(64))
	var w MPLS
	w.Set(0xabcde, 5, true, 64)
	wantBytes(t, w[:], raw)
	w.Set(16, 0, false, 1)
	wantBytes(t, w[:], []byte{0, 1, 0, 1})
}

func TestCookedViews(t *testing.T) {
	h := SLLAt([]byte{0, 4, 3, 0x0a, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x08, 0x06}, 0)
	want(t, "PacketType", h.PacketType(), uint16(4))
	want(t, "Hardware", h.Hardware(), uint16(778))
	want(t, "Addr", h.Addr(), []byte{1, 2, 3, 4, 5, 6})
	want(t, "Proto", h.Proto(), uint16(TypeARP))
	h[4], h[5] = 0xff, 0xff
	want(t, "long Addr", len(h.Addr()), 8)

	h2 := SLL2At([]byte{0x86, 0xdd, 0, 0, 0, 1, 0, 2, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0}, 0)
	want(t, "Proto", h2.Proto(), uint16(TypeIPv6))
	want(t, "Interface", h2.Interface(), uint32(0x10002))
	want(t, "Hardware", h2.Hardware(), uint16(1))
	want(t, "PacketType", h2.PacketType(), uint8(4))
	want(t, "Addr", h2.Addr(), []byte{1, 2, 3, 4, 5, 6})
	h2[11] = 200
	want(t, "long Addr", len(h2.Addr()), 8)

	want(t, "IPoIB", IPoIBAt([]byte{0x08, 0x06, 0, 0}, 0).Type(), uint16(TypeARP))
	w := IPoIB{9, 9, 9, 9}
	w.SetType(TypeIPv6)
	wantBytes(t, w[:], []byte{0x86, 0xdd, 0, 0})
}

// A view of fewer bytes than the header has panics instead of reading on.
func TestViewTooShort(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	UDPAt(make([]byte, 27), 20)
}
