package gro

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// TestZeroMerger: the zero value works, and starts over after each Flush.
func TestZeroMerger(t *testing.T) {
	var m Merger
	for range m.Flush() {
		t.Fatal("something came out of an empty Merger")
	}
	frames := tcps(seg(0, 100), seg(100, 100), seg(200, 50))
	for round := range 3 {
		for _, f := range frames {
			m.Add(f)
		}
		n := 0
		for a := range m.Flush() {
			n++
			if a.Len() != 304 || len(a.Payload()) != 3 || a.CSum() != packet.CSumPartial {
				t.Fatalf("round %d: %d bytes in %d parts", round, a.Len(), len(a.Payload()))
			}
			if &a.Payload()[1][0] != &frames[1][54] {
				t.Error("the payload was copied")
			}
			if g := a.GSO(); g.Size != 100 || g.Segs != 3 || g.HdrLen != 54 {
				t.Errorf("%+v", g)
			}
		}
		if n != 1 {
			t.Fatalf("round %d: %d packets", round, n)
		}
	}
	if s := m.Stats(); s.Packets != 9 || s.Out != 3 || s.Merged != 6 || s.Aggregates != 3 {
		t.Errorf("%+v", s)
	}
}

// TestMergerLetsGo: frames are read only, and not kept after the loop, also
// when it was left early.
func TestMergerLetsGo(t *testing.T) {
	var m Merger
	frames := tcps(seg(0, 100), seg(100, 100), seg(300, 100))
	before := bytes.Join(frames, nil)
	for _, f := range frames {
		m.Add(f)
	}
	for range m.Flush() {
		break
	}
	if !bytes.Equal(before, bytes.Join(frames, nil)) {
		t.Error("a frame was changed")
	}
	for _, p := range m.packed {
		if p.frame != nil || len(p.payload) != 0 {
			t.Error("a frame was kept")
		}
		for _, b := range p.payload[:cap(p.payload)] {
			if b != nil {
				t.Error("a payload was kept")
			}
		}
	}
	if len(collect(&m)) != 0 {
		t.Error("something was left")
	}
}

// TestRaw: frames of a TUN device have no link header.
func TestRaw(t *testing.T) {
	for _, c := range []struct {
		link header.LinkType
		head []byte
	}{
		{header.LinkRaw, nil},
		{header.LinkIPoIB, []byte{8, 0, 0, 0}},
		{header.LinkNull, []byte{2, 0, 0, 0}},
		{header.LinkSLL, append(make([]byte, 14), 8, 0)},
		{header.LinkSLL2, append([]byte{8, 0}, make([]byte, 18)...)},
	} {
		var frames [][]byte
		for _, f := range run(46, 1448) {
			frames = append(frames, append(bytes.Clone(c.head), f[14:]...))
		}
		out, _ := merge(t, Config{Link: c.link}, frames...)
		if len(out) != 2 || len(out[0].data) != len(c.head)+40+45*1448 {
			t.Errorf("link type %d: %s", c.link, text(out))
		}
		// Read as Ethernet they are nothing, and pass.
		if out, _ = merge(t, Config{}, frames...); len(out) != len(frames) {
			t.Errorf("link type %d read as Ethernet: %d packets", c.link, len(out))
		}
	}
}

func TestVerified(t *testing.T) {
	frames := tcps(tcpSeg{n: 100, bad: true}, tcpSeg{seq: 100, n: 100, bad: true})
	if out, _ := merge(t, Config{Verified: true}, frames...); len(out) != 1 {
		t.Errorf("believed: %s", text(out))
	}
	if out, _ := merge(t, Config{}, frames...); len(out) != 2 {
		t.Errorf("not believed: %s", text(out))
	}
}

func TestConfig(t *testing.T) {
	for text, c := range map[string]Config{
		"gro: Buckets is 3, want a power of two up to 4096":    {Buckets: 3},
		"gro: Buckets is -1, want a power of two up to 4096":   {Buckets: -1},
		"gro: Buckets is 8192, want a power of two up to 4096": {Buckets: 8192},
		"gro: Link is 200, want a header.LinkType":             {Link: 200},
		"gro: MaxAge is -1 ns, want 0 or more":                 {MaxAge: -1},
	} {
		if _, err := NewMerger(c); err == nil || err.Error() != text {
			t.Errorf("%v, want %q", err, text)
		}
		if _, err := New(c, nil); err == nil || err.Error() != text {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

// TestReasons: each reason has a text of its own and a packet that gets it.
func TestReasons(t *testing.T) {
	texts := map[string]bool{}
	for r := range NumReasons {
		if s := r.String(); s == "" || texts[s] {
			t.Errorf("reason %d: text %q", r, s)
		}
		texts[r.String()] = true
	}
	if NumReasons.String() != "unknown" || NumActions.String() != "unknown" {
		t.Error("a value out of range has a text")
	}
	long := ipHdr{v6: true, next: 60, ext: append([]byte{31}, make([]byte, 254)...)}
	second := func(f func(*tcpSeg)) [][]byte {
		s := seg(100, 100)
		f(&s)
		return tcps(seg(0, 100), s)
	}
	for want, frames := range map[Reason][][]byte{
		ReasonFirst:         tcps(seg(0, 100)),
		ReasonNotIP:         {ethernet(header.TypeARP, make([]byte, 28))},
		ReasonProtocol:      {onEthernet(ipHdr{}.wrap(header.ProtoICMP, make([]byte, 8)))},
		ReasonUDPOff:        udps(ipHdr{}, datagram{n: 9}),
		ReasonTunnelPort:    udps(ipHdr{}, datagram{n: 9, dst: header.PortVXLAN}),
		ReasonTunnel:        gres(header.GRESeq, be(4, 1), be(4, 2)),
		ReasonHeaderShort:   {longHeader(tcp4(ipHdr{}, seg(0, 9)))},
		ReasonHeaderLong:    {tcp6(long, seg(0, 1))},
		ReasonIPOptions:     {tcp4(ipHdr{options: make([]byte, 4)}, seg(0, 1))},
		ReasonFragment:      {tcp4(ipHdr{fragment: 5}, seg(0, 1))},
		ReasonIPChecksum:    {tcp4(ipHdr{badSum: true}, seg(0, 1))},
		ReasonIPReserved:    {tcp4(ipHdr{fragment: 0x8000}, seg(0, 1))},
		ReasonIPLength:      padded(tcps(seg(0, 1)), 0),
		ReasonChecksum:      tcps(tcpSeg{n: 1, bad: true}),
		ReasonEmpty:         tcps(seg(0, 0)),
		ReasonFlags:         tcps(flagged(0, 1, ack|psh)),
		ReasonLink:          vlans(5, 6),
		ReasonTunnelDiffers: gres(header.GREKey, be(4, 1), be(4, 2)),
		ReasonFlowLabel:     two6(ipHdr{}, ipHdr{label: 1}),
		ReasonExtensions:    two6(hopByHop(0), hopByHop(1)),
		ReasonTOS:           two6(ipHdr{}, ipHdr{tos: 0x20}),
		ReasonTTL:           two(ipHdr{}, ipHdr{ttl: 1}),
		ReasonDF:            two(ipHdr{}, ipHdr{df0: true}),
		ReasonIPID:          two(ipHdr{}, ipHdr{id: 7}),
		ReasonAck:           second(func(s *tcpSeg) { s.ack++ }),
		ReasonFlagsDiffer:   second(func(s *tcpSeg) { s.flags = ack | ece }),
		ReasonCWR:           tcps(flagged(0, 100, ack|cwr), flagged(100, 100, ack|cwr)),
		ReasonWindow:        second(func(s *tcpSeg) { s.window = 7 }),
		ReasonOptions: tcps(tcpSeg{n: 100, options: stamp(0, 1)},
			tcpSeg{seq: 100, n: 100, options: stamp(0, 2)}),
		ReasonSequence: tcps(seg(0, 100), seg(101, 100)),
		ReasonLonger:   tcps(seg(0, 100), seg(100, 101)),
		ReasonSize:     run(46, 1448),
	} {
		c := Config{VXLAN: []uint16{header.PortVXLAN}}
		_, verdicts := merge(t, c, frames...)
		if v := verdicts[len(verdicts)-1]; v.Reason != want {
			t.Errorf("%q: the verdict was %q", want, v.Reason)
		}
	}
}

// longHeader lets the TCP header reach behind the frame.
func longHeader(f []byte) []byte {
	f[46] |= 0xf0
	return fixed(f)
}

// TestExpire: packets are held over polls, but not longer than MaxAge.
func TestExpire(t *testing.T) {
	k := newRack(t, 16)
	table, err := New(Config{MaxAge: 1000}, k.slab)
	if err != nil {
		t.Fatal(err)
	}
	in, out := packet.NewBatch(k.slab, 8), packet.NewBatch(k.slab, 8)
	poll := func(now int64, frames ...[]byte) int {
		for _, f := range frames {
			in.Add(k.build(f, linear, nil))
		}
		table.Receive(in, out)
		table.Expire(now, out)
		return len(k.outcomes(out))
	}
	for _, c := range []struct {
		now    int64
		frames [][]byte
		out    int
		held   int
	}{
		{5000, nil, 0, 0},
		{5500, tcps(seg(0, 100)), 0, 1},        // held since 5000 at the earliest
		{5900, ports(2, 0, 1)[1:], 0, 2},       // since 5500
		{6000, nil, 1, 1},                      // the first has had its time
		{6400, nil, 0, 1},                      //
		{6499, ports(2, 100, 2)[1:], 0, 1},     // goes on with the second
		{6500, nil, 1, 0},                      // which leaves with it
		{9000, tcps(flagged(0, 9, psh)), 1, 0}, // nothing to hold
	} {
		if got := poll(c.now, c.frames...); got != c.out || table.Held() != c.held {
			t.Errorf("at %d: %d out, %d held, want %d and %d", c.now, got, table.Held(), c.out,
				c.held)
		}
	}
	k.empty()
}

// TestEviction: the oldest leaves a full bucket, and is counted.
func TestEviction(t *testing.T) {
	m, err := NewMerger(Config{Buckets: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ports(10, 0, 1) {
		m.Add(f)
	}
	if s := m.Stats(); s.Evicted != 2 || s.Held != 8 || s.Out != 2 {
		t.Errorf("%+v", s)
	}
}

func TestAllocates(t *testing.T) {
	l := load{8, 128}
	frames := l.frames()
	for _, verified := range []bool{false, true} {
		m, err := NewMerger(Config{Verified: verified})
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		n := testing.AllocsPerRun(20, func() {
			for _, f := range frames {
				m.Add(f)
			}
			for a := range m.Flush() {
				bytes += a.Len()
			}
		})
		if n != 0 {
			t.Errorf("Merger, verified %v: %v allocations a poll", verified, n)
		}
	}
	x := newBelt(t, frames, 2048)
	x.fill(2048)
	table, err := New(Config{}, x.slab)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []packet.CSum{packet.CSumNone, packet.CSumValid} {
		n := testing.AllocsPerRun(20, func() {
			for k := range frames {
				x.in.Add(x.linear(k, kind))
			}
			table.Receive(x.in, x.out)
			table.Flush(x.out)
			x.fill(128)
			x.free(x.out)
		})
		if n != 0 {
			t.Errorf("Table, checksum %d: %v allocations a poll", kind, n)
		}
	}
}

// TestFixChecksums: what is repaired verifies, what is not whole stays.
func TestFixChecksums(t *testing.T) {
	for name, good := range map[string][]byte{
		"tcp4":   tcp4(ipHdr{options: make([]byte, 8)}, seg(0, 99)),
		"tcp6":   tcp6(ipHdr{}, seg(0, 99)),
		"udp4":   udp4(ipHdr{}, datagram{n: 9}),
		"udp6":   udp4(ipHdr{v6: true}, datagram{n: 9}),
		"padded": padded(tcps(seg(0, 1)), 0)[0],
	} {
		f := bytes.Clone(good)
		if f[14]>>4 == 4 {
			f[24] ^= 0xff
		}
		at := len(f) - 9 - 2 // in the UDP header of 9 bytes of payload
		if !strings.HasPrefix(name, "udp") {
			var i header.Info
			header.Parse(header.LinkEthernet, f, nil, &i)
			at = int(i.L4) + header.TCPSum
		}
		f[at] ^= 0xff
		if FixChecksums(header.LinkEthernet, f); !bytes.Equal(f, good) {
			t.Errorf("%s: not what it was\n% x\n% x", name, f, good)
		}
	}
	for name, f := range map[string][]byte{
		"udp without":    udp4(ipHdr{}, datagram{n: 9, zero: true}),
		"later fragment": tcp4(ipHdr{fragment: 5}, tcpSeg{n: 9, bad: true}),
		"cut":            tcp4(ipHdr{badSum: true}, tcpSeg{n: 9, bad: true})[:60],
		"not IP":         ethernet(header.TypeARP, make([]byte, 28)),
		"nothing":        nil,
	} {
		before := bytes.Clone(f)
		if FixChecksums(header.LinkEthernet, f); !bytes.Equal(f, before) {
			t.Errorf("%s: was changed", name)
		}
	}
}

// A VPN has decrypted a batch of datagrams and writes what they make to a TUN
// device.
func ExampleMerger() {
	var m Merger
	for _, frame := range run(3, 1000) {
		m.Add(frame) // lent until Flush
	}
	for a := range m.Flush() {
		fmt.Println(a.Len(), "bytes,", a.GSO().Segs, "segments of", a.GSO().Size)
	}
	// Output: 3054 bytes, 3 segments of 1000
}
