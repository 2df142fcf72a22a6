package testenv_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-net/millrace/internal/testenv"
)

func sum(parts ...[]byte) (s uint32) {
	for _, b := range parts {
		for i := 0; i < len(b); i += 2 {
			s += uint32(binary.BigEndian.Uint16(b[i:]))
		}
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return s
}

// tcpFrame is an Ethernet/IPv4/TCP frame of n payload bytes at seq; partial
// leaves the pseudo header's sum in the checksum field.
func tcpFrame(id uint16, seq uint32, n int, partial bool) []byte {
	f := append(append([]byte{}, testenv.KernelMAC...), 2, 0, 0, 0, 0, 2, 8, 0)
	f = append(f, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
	f = append(f, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0x50, 0x10, 3, 0xe8, 0, 0, 0, 0)
	f = append(f, bytes.Repeat([]byte{'a'}, n)...)
	binary.BigEndian.PutUint16(f[16:], uint16(len(f)-14))
	binary.BigEndian.PutUint16(f[18:], id)
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum(f[14:34])))
	binary.BigEndian.PutUint32(f[38:], seq)
	pseudo := []byte{0, 6, 0, 0}
	binary.BigEndian.PutUint16(pseudo[2:], uint16(len(f)-34))
	check := uint16(sum(f[26:34], pseudo))
	if !partial {
		check = ^uint16(sum(f[26:34], pseudo, f[34:]))
	}
	binary.BigEndian.PutUint16(f[50:], check)
	return f
}

func TestKernelGRO(t *testing.T) {
	testenv.NewNet(t)
	k := testenv.OpenKernelGRO(t)
	out, err := k.Run([][]byte{
		tcpFrame(1, 0, 100, false), tcpFrame(2, 100, 100, false), tcpFrame(9, 300, 100, false),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 || len(out[0].Data) != 254 || len(out[1].Data) != 154 {
		t.Fatalf("packets %v, want 254 and 154 bytes", lengths(out))
	}
	// NEEDS_CSUM, TCPV4, header length, gso_size 100, checksum at 34+16.
	v := out[0].VNet
	if v[0] != 1 || v[1] != 1 || binary.NativeEndian.Uint16(v[4:]) != 100 ||
		binary.NativeEndian.Uint16(v[6:]) != 34 || binary.NativeEndian.Uint16(v[8:]) != 16 {
		t.Errorf("virtio-net header %x", v)
	}
}

func TestKernelGSO(t *testing.T) {
	testenv.NewNet(t)
	k := testenv.OpenKernelGSO(t, 1500)
	var v [testenv.VNetBytes]byte
	v[0], v[1] = 1, 1
	for i, x := range []uint16{54, 1000, 34, 16} {
		binary.NativeEndian.PutUint16(v[2+2*i:], x)
	}
	out, err := k.Run(v, tcpFrame(7, 0, 2500, true))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]byte{
		tcpFrame(7, 0, 1000, false), tcpFrame(8, 1000, 1000, false), tcpFrame(9, 2000, 500, false),
	}
	if len(out) != 3 {
		t.Fatalf("segments %v, want 3", lengths(out))
	}
	for i, w := range want {
		if !bytes.Equal(out[i].Data, w) {
			t.Errorf("segment %d is %x, want %x", i, out[i].Data, w)
		}
	}
	v[4], v[5] = 0, 0 // gso_size
	if _, err = k.Run(v, tcpFrame(7, 0, 2500, true)); err != unix.EINVAL {
		t.Errorf("gso_size 0: %v, want EINVAL", err)
	}
}

// A packet socket sees a frame without its VLAN tag, which comes beside it.
func TestTAPTag(t *testing.T) {
	testenv.NewNet(t)
	tap := testenv.OpenTAP(t, "tap0", 0)
	testenv.UpLink(t, "tap0", 1500, testenv.KernelMAC)
	s := testenv.OpenPacket(t, "tap0", false)
	f := tcpFrame(1, 0, 10, false)
	tagged := append(append(f[:12:12], 0x81, 0, 0x60, 5), f[12:]...)
	if err := tap.Write(tagged); err != nil {
		t.Fatal(err)
	}
	p, ok := s.Receive(100)
	if !ok || p.TPID != 0x8100 || p.Tag != 0x6005 || !bytes.Equal(p.Data, f) {
		t.Errorf("received %v %x %x %x", ok, p.TPID, p.Tag, p.Data)
	}
	if err := s.Send([testenv.VNetBytes]byte{}, f); err != nil {
		t.Fatal(err)
	}
	if got, err := tap.Read(100); err != nil || !bytes.Equal(got, f) {
		t.Errorf("TAP read %x, %v", got, err)
	}
	if got, err := tap.Read(0); got != nil || err != nil {
		t.Errorf("TAP read %x, %v from an idle device", got, err)
	}
}

func TestVXLANDevice(t *testing.T) {
	testenv.NewNet(t)
	testenv.AddVXLAN(t, "vx0", 7, 4789)
	testenv.UpLink(t, "vx0", 1450, nil)
}

func lengths(packets []testenv.Packet) (n []int) {
	for _, p := range packets {
		n = append(n, len(p.Data))
	}
	return n
}
