package explain

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/cmd/millrace/workload"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// frameOf is the first generated frame of a spec.
func frameOf(t *testing.T, spec string) []byte {
	t.Helper()
	c, err := workload.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	g, err := workload.NewGenerator(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	var f nic.Frame
	g.Next(0, &f)
	return f.Data
}

func TestFixChecksums(t *testing.T) {
	for _, spec := range []string{
		"tcp,size=7", "udp,size=8", "tcp,ipv6,vlan=2,size=9", "udp,ipv6",
	} {
		want := frameOf(t, spec)
		var info header.Info
		header.Parse(header.LinkEthernet, want, nil, &info)
		have := bytes.Clone(want)
		if info.Version == 4 {
			header.IPv4At(have, int(info.Net)).SetChecksum(0x1234)
		}
		if info.Proto == header.ProtoTCP {
			header.TCPAt(have, int(info.L4)).SetChecksum(0x1234)
		} else {
			header.UDPAt(have, int(info.L4)).SetChecksum(0x1234)
		}
		if gro.FixChecksums(header.LinkEthernet, have); !bytes.Equal(have, want) {
			t.Errorf("%s:\nhave %x\nwant %x", spec, have, want)
		}
	}
}

// What is not whole, or has no checksum, stays as it is.
func TestFixLeavesAlone(t *testing.T) {
	const ip, l4 = 14, 34
	fragment := frameOf(t, "tcp,size=64")
	header.IPv4At(fragment, ip).SetFragment(header.IPv4MF)
	gro.FixChecksums(header.LinkEthernet, fragment) // its IP header is to be good
	header.TCPAt(fragment, l4).SetChecksum(1)
	unsummed := frameOf(t, "udp,size=64")
	header.UDPAt(unsummed, l4).SetChecksum(0)
	cut := frameOf(t, "tcp,size=64")[:100]
	header.IPv4At(cut, ip).SetChecksum(1)
	tunnel := frameOf(t, "tcp,vxlan=1,size=64")
	for name, want := range map[string][]byte{
		"fragment": fragment, "no checksum": unsummed, "cut": cut, "tunnel": tunnel,
		"short": {1, 2, 3}, "none": {},
	} {
		have := bytes.Clone(want)
		if gro.FixChecksums(header.LinkEthernet, have); !bytes.Equal(have, want) {
			t.Errorf("%s:\nhave %x\nwant %x", name, have, want)
		}
	}
}

func TestParseRange(t *testing.T) {
	for s, want := range map[string]Range{"1-64": {1, 64}, "7": {7, 7}, "3-3": {3, 3}} {
		if r, err := ParseRange(s); err != nil || r != want {
			t.Errorf("%s: %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "-", "0-3", "4-3", "1-2-3", "a-b", "1-"} {
		if r, err := ParseRange(s); err == nil {
			t.Errorf("%q: %v", s, r)
		}
	}
}

func TestNames(t *testing.T) {
	ethernet := func(etherType string, rest ...byte) []byte {
		return append(append(make([]byte, 12), etherType...), rest...)
	}
	short := frameOf(t, "tcp")
	later := bytes.Clone(short)
	header.IPv4At(later, 14).SetFragment(1)
	sctp := bytes.Clone(short)
	header.IPv4At(sctp, 14).SetProto(header.ProtoSCTP)
	other := bytes.Clone(short)
	header.IPv4At(other, 14).SetProto(253)
	for _, c := range []struct {
		link   header.LinkType
		frame  []byte
		l3, l4 string
	}{
		{header.LinkEthernet, short, "ipv4", "tcp"},
		{header.LinkEthernet, later, "ipv4", "later fragment"},
		{header.LinkEthernet, sctp, "ipv4", "sctp"},
		{header.LinkEthernet, other, "ipv4", "protocol 253"},
		{header.LinkEthernet, ethernet("\x08\x06"), "arp", "none"},
		{header.LinkEthernet, ethernet("\x08\x00", 0x65), "malformed ipv4", "none"},
		{header.LinkEthernet, ethernet("\x00\x26"), "llc", "none"},
		{header.LinkEthernet, ethernet("\x88\xcc"), "0x88cc", "none"},
		{header.LinkEthernet, []byte{1, 2}, "none", "none"},
		{header.LinkRaw, short[14:], "ipv4", "tcp"},
		{header.LinkOpaque, short, "unknown link type 127", "none"},
	} {
		var info header.Info
		header.Parse(c.link, c.frame, nil, &info)
		f := &capture.Frame{Data: c.frame, Link: c.link, LinkNumber: 127}
		if l3, l4 := networkName(f, &info), transportName(&info); l3 != c.l3 || l4 != c.l4 {
			t.Errorf("%x: %s, %s, want %s, %s", c.frame[:min(40, len(c.frame))], l3, l4, c.l3, c.l4)
		}
	}
}

// Frames as long as a capture can hold them have headers at their front only.
func TestLongFrames(t *testing.T) {
	tcp := frameOf(t, "tcp")
	for _, n := range []int{65534, 65535, 65536, capture.MaxFrameBytes} {
		p, err := newPoll(gro.Config{})
		if err != nil {
			t.Fatal(err)
		}
		long := make([]byte, n)
		copy(long, tcp)
		for range 2 {
			if v := p.add(&capture.Frame{Data: long}); v.Action == gro.Merged {
				t.Errorf("%d bytes: merged", n)
			}
		}
		out := 0
		p.end(func(a *gro.Aggregate) { out += a.Len() })
		if out != 2*n {
			t.Errorf("two frames of %d bytes: %d came out", n, out)
		}
	}
}
