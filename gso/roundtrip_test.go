package gso

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
)

var tunnelPorts = []uint16{4789, 8472}

// roundTrip merges frames and cuts what came out. It returns the segments and
// how many frames were merged into others.
func roundTrip(t *testing.T, m *gro.Merger, link header.LinkType, frames [][]byte) (out [][]byte,
	merged int) {
	t.Helper()
	for _, f := range frames {
		if m.Add(f).Action == gro.Merged {
			merged++
		}
	}
	for a := range m.Flush() {
		var s Segmenter
		if err := s.Start(link, a.Header(), a.Payload(), a.GSO()); err != nil {
			t.Fatalf("%+v of %d bytes: %v", a.GSO(), a.Len(), err)
		}
		if a.GSO().Size != 0 && s.Left() != int(a.GSO().Segs) {
			t.Fatalf("%d segments of %+v, %d bytes", s.Left(), a.GSO(), a.Len())
		}
		for n := s.Need(); n > 0; n = s.Need() {
			b := make([]byte, n)
			s.Next(b)
			out = append(out, b)
		}
	}
	return out, merged
}

// checkRestored: of each flow, the frames out are those that went in, byte for
// byte and in the same order.
func checkRestored(t *testing.T, link header.LinkType, in, out [][]byte) {
	t.Helper()
	if len(in) != len(out) {
		t.Fatalf("%d frames in, %d out", len(in), len(out))
	}
	flows := map[string][][]byte{}
	for _, f := range in {
		k := flowOf(link, f)
		flows[k] = append(flows[k], f)
	}
	for i, f := range out {
		k := flowOf(link, f)
		if len(flows[k]) == 0 {
			t.Fatalf("frame %d out is of no flow that went in: %.200x", i, f)
		}
		if want := flows[k][0]; !bytes.Equal(f, want) {
			t.Fatalf("frame %d out, of flow %s, is\n%.200x, want\n%.200x", i, k, f, want)
		}
		flows[k] = flows[k][1:]
	}
}

// flowOf names the flow of a frame: addresses, those of a tunnel around it too,
// and ports.
func flowOf(link header.LinkType, f []byte) string {
	var i header.Info
	header.Parse(link, f, &header.ParseOptions{VXLAN: tunnelPorts}, &i)
	if i.Version == 0 {
		return ""
	}
	ports := []byte(nil)
	if i.Payload != 0 && (i.Proto == header.ProtoTCP || i.Proto == header.ProtoUDP) {
		ports = f[i.L4 : i.L4+4]
	}
	return fmt.Sprint(i.Encap, i.Proto, addresses(f, i.Outer), addresses(f, i.Net), ports)
}

func addresses(f []byte, off uint16) []byte {
	if f[off]>>4 == 4 {
		return f[off+12 : off+20]
	}
	return f[off+8 : off+40]
}

// fixChecksums makes the IPv4 header, TCP and UDP checksums of a frame good,
// where the packet is whole and there is one (golden/README.md). A damaged
// frame it leaves alone.
func fixChecksums(link header.LinkType, f []byte) {
	var i header.Info
	header.Parse(link, f, nil, &i)
	if i.Version == 0 || i.Encap != header.EncapNone || int(i.End) > len(f) ||
		i.Flags&header.FlagFragment != 0 {
		return
	}
	if i.Version == 4 {
		h := f[i.Net : int(i.Net)+int(f[i.Net]&15)*4]
		be.PutUint16(h[10:], 0)
		be.PutUint16(h[10:], rfc1071(h))
	}
	if i.Payload == 0 || int(i.End) < int(i.Payload) {
		return
	}
	l4, at := f[i.L4:i.End], header.TCPSum
	switch {
	case i.Proto == header.ProtoUDP && be.Uint16(l4[header.UDPSum:]) != 0:
		at = header.UDPSum
	case i.Proto != header.ProtoTCP:
		return
	}
	be.PutUint16(l4[at:], 0)
	sum := rfc1071(pseudoBytes(addresses(f, i.Net), i.Proto, len(l4)), l4)
	if sum == 0 && i.Proto == header.ProtoUDP {
		sum = 0xffff
	}
	be.PutUint16(l4[at:], sum)
}

// Every kind of packet that GSO knows and GRO merges is restored.
func TestRoundTripStacks(t *testing.T) {
	m, err := gro.NewMerger(gro.Config{UDP: true, VXLAN: tunnelPorts})
	if err != nil {
		t.Fatal(err)
	}
	for k := range stacks {
		s := &stacks[k]
		if s.link != eth {
			continue
		}
		in := s.segments(bytes.Repeat([]byte("millrace"), 1000), 999, 1<<32-2000)
		in[0] = s.segment(0, 1<<32-2000, midFlags, timestamps, in[0][len(in[0])-999:]) // no CWR
		out, merged := roundTrip(t, m, eth, in)
		checkRestored(t, eth, in, out)
		if want := len(in) - 1; merged != want && s.name != "ip4 options" {
			t.Errorf("%s: %d of %d frames merged: %+v", s.name, merged, want, m.Stats())
		}
	}
}

// The bytes of script change frames of a stream, which is then restored.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint8(0), true, []byte{})
	f.Add(uint8(11), true, []byte{1, 22, 63})      // TTL of the second frame
	f.Add(uint8(0), false, []byte{2, 80, 1})       // payload: a bad checksum
	f.Add(uint8(23), true, []byte{1, 19, 9})       // an outer ID
	f.Add(uint8(22), true, []byte{3, 53, 6})       // the inner VLAN tag
	f.Add(uint8(0), true, []byte{0, 18, 0, 1, 18}) // IDs
	m, err := gro.NewMerger(gro.Config{UDP: true, VXLAN: tunnelPorts, Buckets: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind uint8, fix bool, script []byte) {
		s := &stacks[int(kind)%len(stacks)]
		if s.link != eth || len(script) > 60 {
			return
		}
		in := s.segments(bytes.Repeat([]byte("odd"), 167), 100, 7)
		var info header.Info
		header.Parse(eth, in[0], &header.ParseOptions{VXLAN: tunnelPorts}, &info)
		for ; len(script) >= 3; script = script[3:] {
			frame := in[int(script[0])%len(in)]
			if at := int(script[1]) % len(frame); !lost(&info, at) {
				frame[at] = script[2]
			}
		}
		if fix {
			for _, frame := range in {
				fixChecksums(eth, frame)
			}
		}
		if ambiguous(in) {
			return
		}
		out, _ := roundTrip(t, m, eth, in)
		checkRestored(t, eth, in, out)
	})
}

// lost tells whether GRO does not compare the byte at that offset, as Linux does
// not, so that it is the first frame's in all: the urgent pointer, and the
// length in the UDP header of a tunnel.
func lost(i *header.Info, at int) bool {
	l4, tunnel := int(i.L4), int(i.Tunnel)
	return i.Proto == header.ProtoTCP && (at == l4+18 || at == l4+19) ||
		i.Encap == header.EncapVXLAN && (at == tunnel+4 || at == tunnel+5)
}

// ambiguous tells whether a frame has a checksum of all ones, which verifies
// where zero does: GSO writes the one that a fresh computation gives.
func ambiguous(frames [][]byte) bool {
	o := header.ParseOptions{VXLAN: tunnelPorts}
	for _, f := range frames {
		var i header.Info
		header.Parse(eth, f, &o, &i)
		if i.Version == 0 {
			continue
		}
		fields := []int{ipv4Sum(f, i.Net), ipv4Sum(f, i.Outer)}
		if i.Proto == header.ProtoTCP {
			fields = append(fields, int(i.L4)+header.TCPSum)
		}
		if i.Encap == header.EncapGRE || i.Encap == header.EncapTEB {
			fields = append(fields, int(i.Tunnel)+greSum)
		}
		for _, at := range fields {
			if at > 0 && at+2 <= len(f) && be.Uint16(f[at:]) == 0xffff {
				return true
			}
		}
	}
	return false
}

// ipv4Sum is where the checksum of the IP header at off lies; 0: it has none.
func ipv4Sum(f []byte, off uint16) int {
	if f[off]>>4 != 4 {
		return 0
	}
	return int(off) + 10
}
