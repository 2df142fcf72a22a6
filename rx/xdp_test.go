package rx

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

func pass(*xdp.Buff) xdp.Verdict { return xdp.Pass }

// read looks at the Ethernet header and passes.
func read(b *xdp.Buff) xdp.Verdict {
	header := b.Data()
	if len(header) == 0 {
		var copied [14]byte
		b.Load(0, copied[:])
		header = copied[:]
	}
	if header[12] == 0xff {
		return xdp.Drop
	}
	return xdp.Pass
}

// flip changes the first and the last byte where they lie and passes.
func flip(b *xdp.Buff) xdp.Verdict {
	var c [1]byte
	for _, off := range []int{0, b.Len() - 1} {
		b.Load(off, c[:])
		b.Store(off, []byte{^c[0]})
	}
	return xdp.Pass
}

func drop(*xdp.Buff) xdp.Verdict { return xdp.Drop }
func send(*xdp.Buff) xdp.Verdict { return xdp.Tx }

// mixed does a little of everything.
func mixed(b *xdp.Buff) xdp.Verdict {
	b.PullData(54)
	b.AdjustMeta(-8)
	for i := range b.Meta() {
		b.Meta()[i] = byte(i)
	}
	b.AdjustHead(-4)
	b.AdjustTail(-20)
	first := []byte{0}
	b.Load(0, first)
	first[0]++
	b.Store(0, first)
	return xdp.Verdict(1 + first[0]%3)
}

// sender is a device that sends what the queue's program sends.
func sender(t testing.TB, q *Queue, cable *nic.End) *nic.Device {
	t.Helper()
	return senderWith(t, q, cable, nic.Config{})
}

func senderWith(t testing.TB, q *Queue, cable *nic.End, cfg nic.Config) *nic.Device {
	t.Helper()
	d, err := nic.New(cfg, q.dom)
	if err != nil {
		t.Fatal(err)
	}
	if s := q.SendQueue(); s != nil {
		if _, err := d.AddSQ(s.SQ()); err != nil {
			t.Fatal(err)
		}
	}
	d.PlugOut(cable)
	return d
}

// An xdpRig is a queue with a program, and both ends of what it sends.
type xdpRig struct {
	t   *testing.T
	q   *Queue
	d   *device
	dev *nic.Device
	far *nic.End
}

func newXDPRig(t *testing.T, cfg Config, p xdp.Program) *xdpRig {
	t.Helper()
	cfg.XDP.Program = p
	r := &xdpRig{t: t}
	r.q, r.d = open(t, cfg, poisoned())
	near, far, err := nic.NewCable(64)
	if err != nil {
		t.Fatal(err)
	}
	r.far, r.dev = far, sender(t, r.q, near)
	return r
}

// receive sends the frames to the queue and polls once. The caller frees.
func (r *xdpRig) receive(frames ...[]byte) *packet.Batch {
	r.t.Helper()
	for _, f := range frames {
		if !r.d.send(f) {
			r.t.Fatal("nothing posted")
		}
	}
	r.d.plain()
	b := receive(r.t, r.q)
	law(r.t, r.q)
	if s := r.q.Stats(); !s.Balanced() {
		r.t.Errorf("%d received: %+v", s.Received(), s)
	}
	return b
}

// sent is the frames that have left since.
func (r *xdpRig) sent() (frames [][]byte) {
	r.dev.Step(1)
	for f := (nic.Frame{}); r.far.Next(1, &f); {
		frames = append(frames, bytes.Clone(f.Data))
	}
	r.q.Free(receive(r.t, r.q)) // reaps
	law(r.t, r.q)
	return frames
}

// layouts are the four ways a frame lies in memory.
var layouts = map[string]Config{
	"striding linear": {MTU: 1400}, // two buffers a page
	"a page a frame":  {},
	"striding frags":  {MTU: 9000, XDP: xdp.Config{Frags: true}},
	"cyclic linear":   {Type: Cyclic, MTU: 1400},
	"cyclic frags":    {Type: Cyclic, MTU: 9000, XDP: xdp.Config{Frags: true}},
	"linear, pages of 16 KiB": {
		MTU: 3000, Memory: Memory{PageBytes: 16384}},
	"frags, pages of 64 KiB": {
		MTU: 9000, Memory: Memory{PageBytes: 65536}, Type: Striding,
		XDP: xdp.Config{Frags: true}},
}

// A program that passes all changes no packet, whether it looks or not, and one
// that writes only what it writes: nothing is synced over it. In a striding queue
// heads and fragments, too, are those of a queue without one.
func TestXDPPassChangesNothing(t *testing.T) {
	for name, cfg := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newXDPRig(t, cfg, pass)
			plain, d := open(t, cfg, poisoned())
			for n := 54; n <= r.q.plan.MaxFrame; n += 1 + n/7 {
				f := stamped(n)
				flipped := bytes.Clone(f)
				flipped[0], flipped[n-1] = ^f[0], ^f[n-1]
				r.same(plain, d, pass, f, f)
				r.same(plain, d, read, f, f)
				r.same(plain, d, flip, f, flipped)
			}
		})
	}
}

// same receives f with program p, and by a queue without one: the packet has the
// bytes of left and the other's layout.
func (r *xdpRig) same(plain *Queue, d *device, p xdp.Program, f, left []byte) {
	r.t.Helper()
	r.q.SetProgram(p, true)
	bare, want := one(r.t, plain, d, f)
	b := r.receive(f)
	if b.Len() != 1 || !bytes.Equal(contents(b, 0), left) {
		r.t.Fatalf("%d bytes: %d packets, or other bytes", len(f), b.Len())
	}
	got := b.At(0)
	if got.CSumKind == packet.CSumComplete {
		r.t.Error("the device's sum may cover what the program changed")
	}
	split := r.q.plan.Type == desc.Striding && !r.q.plan.Linear
	if split && (got.Linear != want.Linear || got.Truesize != want.Truesize ||
		!equalCuts(cuts(r.q, got), cuts(plain, want))) {
		r.t.Errorf("%d bytes: %+v %v, want %+v %v",
			len(f), got, cuts(r.q, got), want, cuts(plain, want))
	}
	r.q.Free(b)
	plain.Free(bare)
}

// takes (the crash of facts/mlx5e.md 3.6; 12, bug 37).
func TestXDPLinkType(t *testing.T) {
	links := []header.LinkType{header.LinkEthernet, header.LinkRaw, header.LinkOpaque, 77}
	for _, verdict := range []xdp.Verdict{xdp.Pass, xdp.Drop, xdp.Tx} {
		r := newXDPRig(t, Config{MTU: 8000, XDP: xdp.Config{Frags: true}},
			func(b *xdp.Buff) xdp.Verdict { return verdict })
		for _, link := range links {
			f := tcpFrame(8014)
			if link == header.LinkRaw {
				f = f[14:]
			}
			r.d.send(f)
			r.d.last().SetFlowMeta(uint32(link))
			b := r.receive()
			if (b.Len() == 1) != (verdict == xdp.Pass) {
				t.Fatalf("%v: %d packets", verdict, b.Len())
			}
			if verdict != xdp.Pass {
				if r.q.slab.InUse() != 0 || r.q.xdp.side.Given != 0 {
					t.Error("a record or a slice for a frame that is gone")
				}
				continue
			}
			want := map[header.LinkType]uint32{0: 54, header.LinkRaw: 40}[link]
			if p := b.At(0); p.Linear != max(want, 14) || p.Link != min(link, header.LinkOpaque) {
				t.Errorf("link %d: %d linear, link %d", link, p.Linear, p.Link)
			}
			r.q.Free(b)
		}
		r.sent()
	}
}

// room, and none taken away.
func TestXDPSetProgram(t *testing.T) {
	r := newXDPRig(t, Config{}, drop)
	if b := r.receive(tcpFrame(60)); b.Len() != 0 {
		t.Error("not dropped")
	}
	if err := r.q.SetProgram(pass, false); err != nil {
		t.Fatal(err)
	}
	b := r.receive(tcpFrame(60))
	if b.Len() != 1 {
		t.Error("not passed")
	}
	r.q.Free(b)
	done := make(chan error)
	go func() { done <- r.q.SetProgram(drop, false) }() // any goroutine may
	r.q.Free(r.receive(tcpFrame(60), tcpFrame(60)))
	if err := <-done; err != nil {
		t.Error(err)
	}
	if b = r.receive(tcpFrame(60)); b.Len() != 0 {
		t.Error("the exchanged program passes")
	}
	plain, _ := open(t, Config{}, nil)
	frags, _ := open(t, Config{MTU: 9000, XDP: xdp.Config{Program: pass, Frags: true}}, nil)
	for want, err := range map[string]error{
		"without an XDP program": plain.SetProgram(pass, true),
		"cannot be taken off":    r.q.SetProgram(nil, true),
		"MTU 9000 is above 3498": frags.SetProgram(pass, false),
		"has no XDP program":     plain.SetTargets(nil),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if plain.SendQueue() != nil || frags.SetProgram(drop, true) != nil {
		t.Error("no send queue without a program; a program with Frags is welcome")
	}
}

// GRO leaves such a packet alone. What the completion says reaches the program.
func TestXDPMetadata(t *testing.T) {
	for name, cfg := range layouts {
		cfg.Offloads.Timestamps = true
		r := newXDPRig(t, cfg, func(b *xdp.Buff) xdp.Verdict {
			hash, _, ok := b.Hash()
			_, tci, tagged := b.VLAN()
			ns, stamped := b.Timestamp()
			if !ok || hash != 0xabcd || !tagged || tci != 77 || !stamped || ns != 4711 {
				t.Errorf("hash %#x, tag %d, time %d", hash, tci, ns)
			}
			if !b.AdjustMeta(-200) {
				t.Error("refused")
			}
			for i := range b.Meta() {
				b.Meta()[i] = byte(i)
			}
			return xdp.Pass
		})
		f := tcpFrame(1000)
		r.d.send(f)
		c := r.d.last()
		c.SetHash(0xabcd)
		c.SetHashType(desc.HashIPv4)
		c.SetHdrType(desc.HdrVLANStripped)
		c.SetVLAN(77)
		c.SetTimestamp(4711)
		b := r.receive()
		p := b.At(0)
		meta := p.Head.Bytes(p.Start+p.Data-uint32(p.Meta), uint32(p.Meta))
		if len(meta) != 200 || meta[0] != 0 || meta[199] != 199 ||
			p.Flags&packet.FlagFlush == 0 || !bytes.Equal(contents(b, 0), f) {
			t.Errorf("%s: metadata % x", name, meta)
		}
		r.q.Free(b)
	}
}

// Verdicts that name nothing are failures of the program.
func TestXDPUnknownVerdict(t *testing.T) {
	for _, v := range []xdp.Verdict{xdp.Aborted, xdp.Redirect, 5, 1 << 31} {
		r := newXDPRig(t, Config{}, func(*xdp.Buff) xdp.Verdict { return v })
		r.receive(tcpFrame(60))
		if s := r.q.Stats(); s.XDPDrop != 1 || s.XDPAborted != 1 {
			t.Errorf("%v: %+v", v, s)
		}
	}
}

// What a program cannot have is refused with the limit and the way out
// (facts/mlx5e.md 6.5; 12, bug 63).
func TestXDPRefusals(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want []string
	}{
		{Config{MTU: 3499, XDP: xdp.Config{Program: pass}},
			[]string{"MTU 3499 is above 3498", "declare Frags", "lower the MTU"}},
		{Config{MTU: 3499, Type: Cyclic, XDP: xdp.Config{Program: pass}},
			[]string{"MTU 3499 is above 3498", "declare Frags"}},
		{Config{MTU: 7595, Memory: Memory{PageBytes: 65536}, XDP: xdp.Config{Program: pass},
			Type: Striding}, []string{"MTU 7595 is above 7594", "declare Frags"}},
		{Config{MTU: 61679, XDP: xdp.Config{Program: pass, Frags: true}},
			[]string{"MTU 61679 is above 61678", "larger pages"}},
		{Config{MTU: 15787, Type: Cyclic, XDP: xdp.Config{Program: pass, Frags: true}},
			[]string{"MTU 15787", "limit is 15786"}},
		{Config{XDP: xdp.Config{Program: pass}, Offloads: Offloads{LRO: true}},
			[]string{"LRO and an XDP program exclude each other", "turn one"}},
		{Config{XDP: xdp.Config{Program: pass}, Memory: Memory{Headroom: 64}},
			[]string{"Headroom is 64", "promised 256", "leave Headroom 0"}},
		{Config{XDP: xdp.Config{Program: pass, Send: xdp.SendConfig{Blocks: 65}}},
			[]string{"65 blocks", "power of two"}},
	} {
		refused(t, c.cfg, c.want)
	}
	for _, c := range []Config{
		{MTU: 3498, XDP: xdp.Config{Program: pass}},
		{MTU: 61678, XDP: xdp.Config{Program: pass, Frags: true}},
		{MTU: 15786, Type: Cyclic, XDP: xdp.Config{Program: pass, Frags: true}},
	} {
		if _, err := c.Plan(); err != nil {
			t.Errorf("MTU %d is the limit, but %v", c.MTU, err)
		}
	}
	two := Config{MTU: 1450, XDP: xdp.Config{Program: pass}}
	if p, err := two.Plan(); err != nil || p.StrideBytes != 2048 {
		t.Errorf("MTU 1450: strides of %d bytes, want two in a page (%v)", p.StrideBytes, err)
	}
}

// Frames ahead are not asked for while nobody looks at them.
func TestNobodyLooks(t *testing.T) {
	for name, c := range map[string]struct {
		program xdp.Program
		blind   bool
	}{
		"drop": {drop, true},
		"pass": {pass, false},
		"data": {func(b *xdp.Buff) xdp.Verdict { b.Data(); return xdp.Drop }, false},
		"load": {func(b *xdp.Buff) xdp.Verdict {
			b.Load(0, make([]byte, 1))
			return xdp.Drop
		}, false},
	} {
		q, d := open(t, Config{XDP: xdp.Config{Program: c.program}}, nil)
		for range 10 {
			d.send(tcpFrame(100))
		}
		d.plain()
		b := packet.NewBatch(q.Slab(), 64)
		q.Poll(b, 64)
		if q.Free(b); q.blind != c.blind {
			t.Errorf("%s: blind is %v", name, q.blind)
		}
	}
}
