package workload

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/nic"
)

func TestParse(t *testing.T) {
	for spec, want := range map[string]Config{
		"tcp":                            {},
		"udp,flows=3,size=100":           {Kind: UDP, Flows: 3, Size: 100},
		"mix,ipv6,vlan=7,vxlan=9":        {Kind: Mix, IPv6: true, VLAN: 7, VXLAN: 9},
		"tcp,ipv6=false,burst=2,vlan=04": {Burst: 2, VLAN: 4},
	} {
		if c, err := Parse(spec); err != nil || c != want {
			t.Errorf("%s: %+v, %v", spec, c, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                "kinds are tcp, udp, mix",
		"tpc":             `no kind "tpc"`,
		"tcp,flow=3":      `no key "flow"; keys are burst, flows, ipv6, size, vlan, vxlan`,
		"tcp,":            `no key ""`,
		"tcp,flows=0":     "flows=0: want a whole number from 1 to 65536",
		"tcp,size":        "size=: want",
		"udp,vlan=4095":   "from 1 to 4094",
		"udp,ipv6=maybe":  "want true or false",
		"udp,vxlan=1<<24": "from 1 to 16777215",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", spec, err, want)
		}
	}
}

func TestSizeMustFitMTU(t *testing.T) {
	_, err := NewGenerator(Config{Size: 1449}, 0)
	if err == nil || !strings.Contains(err.Error(), "no room for 1449 bytes") ||
		!strings.Contains(err.Error(), "--mtu 1501") {
		t.Error(err)
	}
	if _, err := NewGenerator(Config{Size: 1448}, 0); err != nil {
		t.Error(err)
	}
	if _, err := NewGenerator(Config{Kind: Mix, MTU: 52}, 0); err == nil {
		t.Error("an MTU without room for payload was taken")
	}
}

// variants are all combinations of kind and headers.
func variants() (list []Config) {
	for n := range 3 * 2 * 2 * 2 {
		c := Config{Kind: Kind(n % 3), Flows: 3, Burst: 2, IPv6: n/3%2 == 1}
		c.VLAN, c.VXLAN = n/6%2*42, n/12%2*4711
		list = append(list, c)
	}
	return list
}

// gopacket, which knows nothing of our code, builds each frame again with
// lengths and checksums of its own.
func TestFramesAgainstGopacket(t *testing.T) {
	seed := testenv.Seed(t)
	for _, c := range variants() {
		c.Seed = seed
		g, err := NewGenerator(c, 0)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		var f nic.Frame
		for i := range 20 {
			if !g.Next(0, &f) || f.Link != header.LinkEthernet {
				t.Fatalf("%+v: frame %d: link %d", c, i, f.Link)
			}
			if rebuilt, err := rebuild(f.Data); err != nil || !bytes.Equal(rebuilt, f.Data) {
				t.Fatalf("%+v: frame %d: %v\nhave %x\nwant %x", c, i, err, f.Data, rebuilt)
			}
		}
	}
}

func rebuild(frame []byte) ([]byte, error) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	if p.ErrorLayer() != nil {
		return nil, p.ErrorLayer().Error()
	}
	var parts []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		switch l := l.(type) {
		case *layers.TCP:
			l.SetNetworkLayerForChecksum(innermost(parts))
		case *layers.UDP:
			l.SetNetworkLayerForChecksum(innermost(parts))
		}
		s, ok := l.(gopacket.SerializableLayer)
		if !ok {
			return nil, fmt.Errorf("layer %v", l.LayerType())
		}
		parts = append(parts, s)
	}
	b := gopacket.NewSerializeBuffer()
	o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	err := gopacket.SerializeLayers(b, o, parts...)
	return keepOuterSum(b.Bytes(), p), err
}

func innermost(parts []gopacket.SerializableLayer) gopacket.NetworkLayer {
	for i := len(parts) - 1; i >= 0; i-- {
		if n, ok := parts[i].(gopacket.NetworkLayer); ok {
			return n
		}
	}
	return nil
}

// keepOuterSum takes back the checksum that gopacket gave the UDP header of a
// tunnel; we send none there (RFC 7348 section 5).
func keepOuterSum(b []byte, p gopacket.Packet) []byte {
	if p.Layer(layers.LayerTypeVXLAN) != nil {
		udp := 14 + 20
		if p.Layer(layers.LayerTypeDot1Q) != nil {
			udp += 4
		}
		header.UDPAt(b, udp).SetChecksum(0)
	}
	return b
}

// TCP flows are in order, with one identification after the other, and the
// last of a burst pushes.
func TestTCPOrder(t *testing.T) {
	g, err := NewGenerator(Config{Flows: 2, Burst: 3, Size: 1000}, 600)
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		seq   uint32
		id    uint16
		begun bool
	}
	flows := map[uint16]*state{}
	var f nic.Frame
	frames := 0
	for ; g.Next(0, &f); frames++ {
		ip, tcp := header.IPv4At(f.Data, 14), header.TCPAt(f.Data, 34)
		s := flows[tcp.SrcPort()]
		if s == nil {
			s = new(state)
			flows[tcp.SrcPort()] = s
		}
		if s.begun && (tcp.Seq() != s.seq+1000 || ip.ID() != s.id+1) {
			t.Fatalf("frame %d: seq %d after %d, id %d after %d", frames, tcp.Seq(), s.seq,
				ip.ID(), s.id)
		}
		if pushed := tcp.Flags()&header.TCPPsh != 0; pushed != (frames%3 == 2) {
			t.Errorf("frame %d: PSH is %v", frames, pushed)
		}
		*s = state{tcp.Seq(), ip.ID(), true}
	}
	if frames != 600 || len(flows) != 2 {
		t.Errorf("%d frames of %d flows", frames, len(flows))
	}
}

func TestGeneratorAllocatesNothing(t *testing.T) {
	g, err := NewGenerator(Config{Kind: Mix, VLAN: 1, VXLAN: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var f nic.Frame
	if n := testing.AllocsPerRun(1000, func() { g.Next(0, &f) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkGenerator(b *testing.B) {
	for _, spec := range []string{
		"tcp", "udp,size=18", "tcp,ipv6", "tcp,vxlan=1", "mix,flows=1000,burst=1",
	} {
		b.Run(spec, func(b *testing.B) {
			c, err := Parse(spec)
			if err != nil {
				b.Fatal(err)
			}
			g, err := NewGenerator(c, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var f nic.Frame
			for b.Loop() {
				g.Next(0, &f)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/pkt")
		})
	}
}
