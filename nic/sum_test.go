package nic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

const (
	l3, l4   = desc.SendCSumL3, desc.SendCSumL4
	in3, in4 = desc.SendCSumInnerL3, desc.SendCSumInnerL4
)

// A summed is a frame with right checksums, and where those lie that each bit
// asks for.
type summed struct {
	frame []byte
	at    map[desc.SendCSum]int
}

// summedFrames are of all kinds, with n bytes of payload.
func summedFrames(n int) map[string]summed {
	s := segment{port: uint16(n), flags: ack, stamp: 5, payload: n}
	tcpIn4, tcpIn6 := ip4(header.ProtoTCP, tcp(s)), ip6(header.ProtoTCP, tcp(s))
	udpIn4 := ip4(header.ProtoUDP, udp(9, pattern(n)))
	over4 := func(proto uint8, b []byte) []byte { return ethernet(header.TypeIPv4, ip4(proto, b)) }
	over6 := func(proto uint8, b []byte) []byte { return ethernet(header.TypeIPv6, ip6(proto, b)) }
	vxlan6 := over6(header.ProtoUDP, udp(header.PortVXLAN,
		append([]byte{8, 0, 0, 0, 0, 0, 1, 0}, tcp4(s)...)))
	options := bytes.Clone(over4(header.ProtoTCP, tcp(s)))
	options = append(options[:34:34], append([]byte{1, 1, 1, 1}, options[34:]...)...)
	options[14] = 0x46
	binary.BigEndian.PutUint16(options[16:], uint16(len(options)-14))
	options[24], options[25] = 0, 0
	binary.BigEndian.PutUint16(options[24:], ^checksum.Sum(options[14:38]))
	all := map[string]summed{
		"tcp4":    {tcp4(s), map[desc.SendCSum]int{l3: 24, l4: 50}},
		"tcp6":    {tcp6(s), map[desc.SendCSum]int{l4: 70}},
		"udp4":    {ethernet(header.TypeIPv4, udpIn4), map[desc.SendCSum]int{l3: 24, l4: 40}},
		"options": {options, map[desc.SendCSum]int{l3: 24, l4: 54}},
		"vxlan4":  {vxlan4(tcp4(s)), map[desc.SendCSum]int{l3: 24, l4: 40, in3: 74, in4: 100}},
		"vxlan6":  {vxlan6, map[desc.SendCSum]int{l4: 60, in3: 94, in4: 120}},
		"ipip": {over4(header.ProtoIPv4, tcpIn4),
			map[desc.SendCSum]int{l3: 24, in3: 44, in4: 70}},
		"sit":  {over4(header.ProtoIPv6, tcpIn6), map[desc.SendCSum]int{l3: 24, in4: 90}},
		"6in6": {over6(header.ProtoIPv6, tcpIn6), map[desc.SendCSum]int{in4: 110}},
		"gre": {over4(header.ProtoGRE, append([]byte{0, 0, 8, 0}, udpIn4...)),
			map[desc.SendCSum]int{l3: 24, in3: 48, in4: 64}},
		"gretap": {over4(header.ProtoGRE, append([]byte{0, 0, 0x65, 0x58}, tcp6(s)...)),
			map[desc.SendCSum]int{l3: 24, in4: 108}},
	}
	for _, name := range []string{"tcp4", "udp4", "vxlan4"} {
		f, at := all[name], map[desc.SendCSum]int{}
		for bit, off := range f.at {
			at[bit] = off + 4
		}
		all[name+" tagged"] = summed{tagged(header.TypeVLAN, 5, f.frame), at}
	}
	return all
}

// spoil overwrites the checksums that the bits ask for.
func (f *summed) spoil(rnd *rand.Rand, bits desc.SendCSum) []byte {
	b := bytes.Clone(f.frame)
	for bit, at := range f.at {
		if bits&bit != 0 {
			binary.BigEndian.PutUint16(b[at:], uint16(rnd.Uint32()))
		}
	}
	return b
}

// The device restores just the checksums that it is asked for, whatever stood
// there, of every kind of frame at every length; padding is not summed.
func TestSums(t *testing.T) {
	rnd := testenv.Rand(testenv.Seed(t), 0)
	r := newSendRig(t, Config{}, 8)
	for n := range 70 {
		for name, f := range summedFrames(n) {
			for bits := desc.SendCSum(0x10); bits != 0; bits += 0x10 {
				pad := make([]byte, rnd.IntN(2)*7)
				b := append(f.spoil(rnd, bits), pad...)
				got := r.sends(order{sums: bits, segs: r.place(b, 9+rnd.IntN(300))})
				if want := append(bytes.Clone(f.frame), pad...); !bytes.Equal(got[0], want) {
					t.Fatalf("%s, %d bytes, flags %#x:\n%x, want\n%x", name, n, bits, got[0], want)
				}
			}
			other := f.spoil(rnd, l3|l4|in3|in4)
			if got := r.sends(order{segs: r.place(other, pageBytes)}); !bytes.Equal(got[0], other) {
				t.Fatalf("%s: changed, and nobody asked for it", name)
			}
		}
	}
}

// Where there is no checksum, or it cannot be told what it covers, the frame
// goes out as it is.
func TestSumsLeaveAlone(t *testing.T) {
	r := newSendRig(t, Config{VXLAN: []uint16{1234}}, 8)
	s := segment{payload: 40}
	change := func(b []byte, at int, v byte) []byte {
		b = bytes.Clone(b)
		b[at] = v
		return b
	}
	fragment := change(tcp4(s), 20, 0x20)
	fixIP4(fragment[14:])
	for name, b := range map[string][]byte{
		"ARP":                 ethernet(0x0806, pattern(28)),
		"short":               pattern(13),
		"first fragment":      fragment,
		"cut short":           tcp4(s)[:80],
		"TCP header of 0":     change(tcp4(s), 46, 0),
		"ihl 4":               change(tcp4(s), 14, 0x44),
		"UDP too long":        change(udp4(80), 39, 60),
		"UDP of 7":            change(udp4(80), 39, 7),
		"ICMPv6":              ethernet(header.TypeIPv6, ip6(header.ProtoICMPv6, pattern(20))),
		"SCTP":                ethernet(header.TypeIPv6, ip6(132, pattern(20))),
		"inner, of no tunnel": nil,
	} {
		bits := l3 | l4 | in3 | in4
		if b == nil {
			b, bits = change(vxlan4(tcp4(s)), 100, 0x99), in3|in4
		}
		want := bytes.Clone(b)
		if len(b) > 34 && b[12] == 8 && b[13] == 0 && b[14] == 0x45 && bits&l3 != 0 {
			fixIP4(want[14:]) // the IP header has one
		}
		if got := r.sends(order{sums: bits, segs: r.place(b, 50)}); !bytes.Equal(got[0], want) {
			t.Errorf("%s:\n%x, want\n%x", name, got[0], want)
		}
	}
}

// A UDP checksum of 0 is sent as 0xffff (RFC 768), that of TCP as it is.
func TestSumOfZero(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	for _, c := range []struct {
		frame  []byte
		at     int
		change int // the word that makes it 0
		want   uint16
	}{
		{udp4(80), 40, 50, 0xffff}, {tcp4(segment{payload: 20}), 50, 60, 0},
		{vxlan4(udp4(80)), 40, 120, 0xffff}, {vxlan4(udp4(80)), 90, 120, 0xffff},
	} {
		b := c.frame
		end := len(b)
		if c.at == 40 && len(b) > 100 {
			b = vxlan4(pattern(80)) // no tunnel: the outer checksum alone
			end = len(b)
		}
		sum := binary.BigEndian.Uint16(b[c.at:])
		word := b[c.change:end][:2]
		v := uint32(binary.BigEndian.Uint16(word)) + uint32(sum)
		binary.BigEndian.PutUint16(word, uint16(v>>16+v))
		got := r.sends(order{sums: l3 | l4 | in3 | in4, segs: r.place(b, pageBytes)})
		if v := binary.BigEndian.Uint16(got[0][c.at:]); v != c.want {
			t.Errorf("%d bytes: checksum %#04x, want %#04x", len(b), v, c.want)
		}
	}
}

// Random bytes behind random headers: what the device writes verifies, and
// nothing else of the frame changes.
func TestSumsRandom(t *testing.T) {
	seed := testenv.Seed(t)
	r := newSendRig(t, Config{}, 8)
	for n := range testenv.Seeds(500) {
		rnd := testenv.Rand(seed, uint64(n))
		for name, f := range summedFrames(rnd.IntN(1300)) {
			b := f.spoil(rnd, l3|l4|in3|in4)
			for range rnd.IntN(3) {
				b[12+rnd.IntN(len(b)-12)] = byte(rnd.Uint32())
			}
			bits := desc.SendCSum(rnd.IntN(16)) << 4
			got := r.sends(order{sums: bits, segs: r.shredded(rnd, b, 40)})[0]
			if err := verifies(b, got, bits); err != nil {
				t.Fatalf("case %d, %s, flags %#x: %v\n%x\n%x", n, name, bits, err, b, got)
			}
		}
	}
}

// verifies says what is wrong with a frame that was b before the device filled
// in checksums.
func verifies(b, got []byte, bits desc.SendCSum) error {
	info := parsed(b)
	may := map[int]bool{}
	field := func(at int) { may[at], may[at+1] = true, true }
	for _, net := range []uint16{info.Net, info.Outer} {
		if info.Version != 0 && b[net]>>4 == 4 {
			field(int(net) + header.IPv4Sum)
		}
	}
	switch {
	case !isTransport(&info):
	case info.Proto == header.ProtoTCP:
		field(int(info.L4) + header.TCPSum)
	default:
		field(int(info.L4) + header.UDPSum)
	}
	if info.Encap == header.EncapVXLAN {
		field(int(info.Tunnel) + header.UDPSum)
	}
	for i := range b {
		if b[i] != got[i] && !may[i] {
			return fmt.Errorf("byte %d changed", i)
		}
	}
	inner := bits
	if info.Encap != header.EncapNone {
		inner = bits << 2 // the inner bits stand for the innermost headers
	}
	var l label
	l.info, l.l2 = info, 14
	l.verify(got)
	if inner&l3 != 0 && info.Version == 4 && !goodIP(got, int(info.Net)) {
		return fmt.Errorf("bad checksum of the inner IP header")
	}
	if end := transportEnd(&info, got); inner&l4 != 0 && end != 0 &&
		!l.goodTransport(got, int(info.L4), end) {
		return fmt.Errorf("bad transport checksum")
	}
	return nil
}
