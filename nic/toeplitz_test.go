package nic

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// Microsoft's "Verifying the RSS Hash Calculation": source, destination, the
// hash over addresses, and that over addresses and ports.
var rssVectors = []struct {
	src, dst        string
	addrs, withPort uint32
}{
	{"66.9.149.187:2794", "161.142.100.80:1766", 0x323e8fc2, 0x51ccc178},
	{"199.92.111.2:14230", "65.69.140.83:4739", 0xd718262a, 0xc626b0ea},
	{"24.19.198.95:12898", "12.22.207.184:38024", 0xd2d0a5de, 0x5c2b394a},
	{"38.27.205.30:48228", "209.142.163.6:2217", 0x82989176, 0xafc7327f},
	{"153.39.163.191:44251", "202.188.127.2:1303", 0x5d1809c5, 0x10e828a2},
	{"[3ffe:2501:200:1fff::7]:2794", "[3ffe:2501:200:3::1]:1766", 0x2cc18cd5, 0x40207d3d},
	{"[3ffe:501:8::260:97ff:fe40:efab]:14230", "[ff02::1]:4739", 0x0f0c461c, 0xdde51bbf},
	{"[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251", "[fe80::200:f8ff:fe21:67cf]:38024",
		0x4b61e985, 0x02d1feef},
}

// rssFrame is a frame between two endpoints.
func rssFrame(src, dst netip.AddrPort, proto uint8) []byte {
	l4 := tcp(segment{flags: 0x10, payload: 8})
	if proto == header.ProtoUDP {
		l4 = udp(0, pattern(8))
	}
	binary.BigEndian.PutUint16(l4[0:], src.Port())
	binary.BigEndian.PutUint16(l4[2:], dst.Port())
	f := ethernet(header.TypeIPv4, ip4(proto, l4))
	at := 26
	if src.Addr().Is6() {
		f, at = ethernet(header.TypeIPv6, ip6(proto, l4)), 22
	}
	copy(f[at:], src.Addr().AsSlice())
	copy(f[at+len(src.Addr().AsSlice()):], dst.Addr().AsSlice())
	return f
}

func TestToeplitz(t *testing.T) {
	table := newToeplitz(MicrosoftKey)
	for _, v := range rssVectors {
		src, dst := netip.MustParseAddrPort(v.src), netip.MustParseAddrPort(v.dst)
		in := append(src.Addr().AsSlice(), dst.Addr().AsSlice()...)
		h := table.add(0, 0, in)
		ports := binary.BigEndian.AppendUint16(nil, src.Port())
		ports = binary.BigEndian.AppendUint16(ports, dst.Port())
		if p := table.add(h, len(in), ports); h != v.addrs || p != v.withPort {
			t.Errorf("%s to %s: %#08x, %#08x; want %#08x, %#08x",
				v.src, v.dst, h, p, v.addrs, v.withPort)
		}
	}
}

func TestHashOfFrames(t *testing.T) {
	b := newBench(t, linear1500, Config{})
	for _, v := range rssVectors {
		src, dst := netip.MustParseAddrPort(v.src), netip.MustParseAddrPort(v.dst)
		ip := desc.HashIPv4
		if src.Addr().Is6() {
			ip = desc.HashIPv6
		}
		for _, f := range []struct {
			proto uint8
			hash  uint32
			typ   desc.HashType
		}{
			{header.ProtoTCP, v.withPort, ip | desc.HashTCP},
			{header.ProtoUDP, v.withPort, ip | desc.HashUDP},
			{header.ProtoGRE, v.addrs, ip},
		} {
			p := b.send(rssFrame(src, dst, f.proto))[0]
			if p.Hash() != f.hash || p.HashType() != f.typ {
				t.Errorf("%s, protocol %d: %#08x type %#x, want %#08x type %#x",
					v.src, f.proto, p.Hash(), p.HashType(), f.hash, f.typ)
			}
		}
	}
}

// Flows are spread over all queues, each flow stays on one, and what has no
// hash goes to queue 0.
func TestSpread(t *testing.T) {
	const queues = 3
	first := newBench(t, linear1500, Config{})
	drivers := []*driver{first.driver}
	for range queues - 1 {
		d := newDriver(t, linear1500)
		// One device has one domain: the further queues use the first's.
		d.dom = first.dom
		for _, p := range append(d.pages, d.filler) {
			var err error
			p.Meta().IOVA, err = d.dom.Map(p)
			check(t, err)
		}
		d.translate(linear1500)
		_, err := first.dev.AddRQ(d.rq)
		check(t, err)
		drivers = append(drivers, d)
	}
	for port := range uint16(60) {
		for range 2 {
			first.wire.List = append(first.wire.List,
				Frame{Data: tcp4(segment{port: port, flags: 0x10, payload: 10})})
		}
	}
	first.wire.List = append(first.wire.List, Frame{Data: ethernet(header.TypeARP, pattern(46))})
	for first.dev.Step(0) > 0 {
	}
	flows := map[uint32]int{}
	for i, d := range drivers {
		got := d.poll()
		if len(got) < 20 {
			t.Errorf("queue %d got %d of 121 frames", i, len(got))
		}
		for _, p := range got {
			if want := int(p.Hash() % tableSize % queues); want != i {
				t.Errorf("hash %#x came to queue %d, want %d", p.Hash(), i, want)
			}
			flows[p.Hash()]++
		}
	}
	if flows[0] != 1 || len(flows) != 61 {
		t.Errorf("%d flows, %d frames without hash", len(flows)-1, flows[0])
	}
}
