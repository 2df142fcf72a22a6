package tx

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A bad packet, why it is refused, and what Check says of it.
type bad struct {
	name  string
	build func(*rig) uint32
	want  packet.Drop
	says  string
}

// head is a packet of n linear bytes that was changed.
func head(n int, change func(*packet.Packet)) func(*rig) uint32 {
	return func(r *rig) uint32 {
		i, p := r.blank(n)
		if change != nil {
			change(p)
		}
		return i
	}
}

// frags is a packet of 100 linear bytes and two fragments of 100.
func frags(change func(*packet.SharedInfo)) func(*rig) uint32 {
	return func(r *rig) uint32 {
		i, p := r.blank(100, 100, 100)
		change(p.Shared())
		return i
	}
}

// gsoOf is a packet of 66 bytes of headers, 100 linear ones and 2000 behind.
func gsoOf(change func(*packet.GSO)) func(*rig) uint32 {
	return func(r *rig) uint32 {
		i, p := r.packetOf(tcp4Kind(), 1000, 100, 2000)
		change(&p.Shared().GSO)
		return i
	}
}

func badFrames() []bad {
	return []bad{
		{"above the MTU", head(1515, nil), packet.DropTooLong,
			"1515 bytes, the MTU of 1500 allows 1514"},
		{"above it in fragments", func(r *rig) uint32 { i, _ := r.blank(14, 1000, 501); return i },
			packet.DropTooLong, "allows 1514"},
		{"64 KiB and a bit", head(100, func(p *packet.Packet) { p.Len, p.Linear = 65636, 65636 }),
			packet.DropTooLong, "65636 bytes"},
		{"too short", head(13, nil), packet.DropTooShort, "13 bytes, want at least 14"},
		{"empty", head(0, nil), packet.DropTooShort, "0 bytes"},
		{"no Ethernet frame", head(60, func(p *packet.Packet) { p.Link = header.LinkRaw }),
			packet.DropBadLink, "want Ethernet"},
		{"marked", head(60, func(p *packet.Packet) { p.Drop = packet.DropFiltered }),
			packet.DropFiltered, "handler"},
		{"checksum outside", func(r *rig) uint32 {
			i, p := r.packetOf(tcp4Kind(), 0, 10)
			p.Shared().GSO.CSumStart, p.Shared().GSO.CSumOffset = 60, 15
			return i
		}, packet.DropBadCSum, "starts at 60"},
		{"checksum nowhere", func(r *rig) uint32 {
			i, p := r.packetOf(tcp4Kind(), 0, 10)
			p.Shared().GSO.CSumStart = 0
			return i
		}, packet.DropBadCSum, "starts at 0"},
	}
}

func badFrags() []bad {
	const why = packet.DropBadFrags
	return []bad{
		{"18 fragments", frags(func(s *packet.SharedInfo) { s.NumFrags = 18 }),
			why, "18 fragments, want at most 17"},
		{"4 billion fragments", frags(func(s *packet.SharedInfo) { s.NumFrags = 1<<32 - 1 }),
			why, "at most 17"},
		{"an empty fragment", frags(func(s *packet.SharedInfo) {
			s.Frags[0].Len, s.Frags[1].Len = 0, 200
		}), why, "none empty"},
		{"shorter than Len", frags(func(s *packet.SharedInfo) { s.NumFrags = 1 }),
			why, "300 bytes"},
		{"an overflow", frags(func(s *packet.SharedInfo) {
			s.Frags[0].Len, s.Frags[1].Len = 1<<31+100, 1<<31+100
		}), why, "300 bytes"},
		{"a chain that is a ring", func(r *rig) uint32 {
			i, p := r.blank(100, 100)
			c, q := r.blank(50)
			p.Shared().Chain, q.Next, p.Len = c, c, 210
			r.chains[i] = []uint32{c}
			return i
		}, why, "210 bytes"},
		{"a chain that leaves the slab", frags(func(s *packet.SharedInfo) { s.Chain = 1 << 30 }),
			why, "300 bytes"},
	}
}

func badGSO() []bad {
	const why = packet.DropBadGSO
	return []bad{
		{"size 0", gsoOf(func(g *packet.GSO) { g.Size = 0 }), why, "0 of payload"},
		{"size huge", gsoOf(func(g *packet.GSO) { g.Size = 65535 }), why, "segments of 1514"},
		{"size above the MTU by one", gsoOf(func(g *packet.GSO) { g.Size = 1514 - 66 + 1 }),
			why, "segments of 1514"},
		{"no type", gsoOf(func(g *packet.GSO) { g.Type = packet.GSONone }), why, "type 0"},
		{"no such type", gsoOf(func(g *packet.GSO) { g.Type = 9 }),
			why, "Type is 9, want GSOTCPv4"},
		{"another protocol", gsoOf(func(g *packet.GSO) { g.Type = packet.GSOTCPv6 }),
			why, "Type is 2, the packet is protocol 6 in IPv4"},
		{"headers too long", gsoOf(func(g *packet.GSO) { g.HdrLen = 67 }),
			why, "HdrLen is 67, the headers end at 66"},
		{"headers too short", gsoOf(func(g *packet.GSO) { g.HdrLen = 30 }),
			why, "no transport header within HdrLen 30"},
		{"headers not linear", gsoOf(func(g *packet.GSO) { g.HdrLen = 167 }),
			why, "linear part has 166"},
		{"checksum elsewhere", gsoOf(func(g *packet.GSO) { g.CSumStart = 35 }),
			why, "CSumStart is 35, the transport header is at 34"},
		{"checksum of another", gsoOf(func(g *packet.GSO) { g.CSumOffset = 6 }),
			why, "CSumOffset is 6, want 16"},
		{"129 datagrams", func(r *rig) uint32 {
			i, _ := r.packetOf(kinds()[2], 10, 0, 1281)
			return i
		}, why, "at most 128 segments"},
	}
}

// Bad packets are refused before anything is posted: counted by their reason,
// given home, with the limit in what Check says. The queue stays usable.
func TestRefuses(t *testing.T) {
	for _, c := range slices.Concat(badFrames(), badFrags(), badGSO()) {
		for _, cfg := range []Config{
			{}, {Without: MultiPacket}, {Without: TSO | UDPSegmentation | Checksum},
			{Copybreak: Copybreak{Way: Inline, Bytes: 400}},
			{Copybreak: Copybreak{Way: Premapped, Bytes: 400}, BufBytes: 512},
			{Copybreak: Copybreak{Way: Linearize, Bytes: 400}},
		} {
			refuses(t, c, cfg)
		}
	}
}

func refuses(t *testing.T, c bad, cfg Config) {
	r := newRig(t, cfg, dma.Config{Mode: dma.Strict})
	i := c.build(r)
	err := r.q.Check(r.slab, r.slab.At(i))
	if err == nil || !strings.Contains(err.Error(), c.says) ||
		!strings.Contains(err.Error(), c.want.String()) {
		t.Errorf("%s: Check says %v, want %q", c.name, err, c.says)
	}
	r.put(i)
	if r.post() != 1 || r.home != 1 || r.q.count.drops[c.want] != 1 || r.q.count.posted != 0 {
		t.Errorf("%s: %d at home, %+v", c.name, r.home, r.q.count)
	}
	if r.q.ring.Producer() != 0 || r.dev.step(9) != 0 {
		t.Errorf("%s: something was posted", c.name)
	}
	want := [][]byte{r.add(60, 100)}
	r.turn()
	r.same(c.name, want)
	if s := r.q.Stats(); s.Dropped != 1 || s.Done != 1 {
		t.Errorf("%s: %+v", c.name, s)
	}
	r.close()
}

// What is good Check lets pass.
func TestCheckPasses(t *testing.T) {
	r := newRig(t, Config{MTU: 1600}, dma.Config{})
	r.mix()
	for k := range r.batch.Len() {
		if err := r.q.Check(r.slab, r.batch.At(k)); err != nil {
			t.Errorf("packet %d: %v", k, err)
		}
	}
}

// Tags in a frame do not count for the MTU.
func TestTagsAndMTU(t *testing.T) {
	for tags, most := range map[int]int{0: 1514, 1: 1518, 2: 1522, 3: 1522} {
		for _, n := range []int{most, most + 1} {
			r := newRig(t, Config{}, dma.Config{})
			i, p := r.blank(n)
			copy(p.Bytes()[12:], []byte{8, 0})
			for k := range tags {
				copy(p.Bytes()[12+4*k:], []byte{0x81, 0, 0, 7, 8, 0})
			}
			r.put(i)
			r.turn()
			if got := len(r.dev.sent) == 1; got != (n == most) {
				t.Errorf("%d tags, %d bytes: sent %v", tags, n, got)
			}
			r.close()
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, cfg := range map[string]Config{
		"32 blocks, want a power of two, 64":   {Blocks: 32},
		"MTU is 67, want 68 to":                {MTU: 67},
		"MTU is 65510":                         {MTU: 65510},
		"BufBytes is 100, want a power of two": {BufBytes: 100},
		"4096, want a power of two, 64 to":     {BufBytes: 4096},
		"Without is 0x20":                      {Without: 1 << 5},
		"unknown MinInline 4":                  {MinInline: 4},
		"LimitBytes is -1":                     {LimitBytes: -1},
		"number of the send queue":             {Number: 1 << 24},
		"unknown way 4":                        {Copybreak: Copybreak{Way: 4}},
		"tx-copybreak is -1":                   {Copybreak: Copybreak{Way: Inline, Bytes: -1}},
		"0 to 972 for inline: a WQE of 63":     {Copybreak: Copybreak{Way: Inline, Bytes: 973}},
		"0 to 476 for inline: an eighth of a ring of 64": {
			Blocks: 64, Copybreak: Copybreak{Way: Inline, Bytes: 477},
		},
		"257, want 0 to 256 for premapped: a buffer": {
			Copybreak: Copybreak{Way: Premapped, Bytes: 257},
		},
		"0 to 4096 for linearize": {Copybreak: Copybreak{Way: Linearize, Bytes: 4097}},
		"0 to 0 for mapped":       {Copybreak: Copybreak{Bytes: 1}},
	} {
		dom := dma.New(dma.Config{Mode: dma.Strict})
		q, err := New(cfg, dom)
		if err == nil || !strings.Contains(err.Error(), want) || q != nil {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
		if s := dom.Stats(); s.Maps != s.Unmaps {
			t.Errorf("%+v: %d maps, %d unmaps", cfg, s.Maps, s.Unmaps)
		}
	}
	dom := dma.New(dma.Config{Mode: dma.Strict, AddressBytes: 128 << 10})
	if _, err := New(Config{}, dom); err == nil || !strings.Contains(err.Error(), "fewer Blocks") {
		t.Errorf("no memory for buffers: %v", err)
	}
	if s := dom.Stats(); s.Maps != s.Unmaps || s.Maps == 0 {
		t.Errorf("%d maps, %d unmaps", s.Maps, s.Unmaps)
	}
}

// A copybreak above the limit changes nothing.
func TestSetCopybreakRefuses(t *testing.T) {
	r := newRig(t, Config{Copybreak: Copybreak{Way: Inline, Bytes: 100}}, dma.Config{})
	err := r.q.SetCopybreak(Copybreak{Way: Inline, Bytes: 2000})
	if err == nil || !strings.Contains(err.Error(), "0 to 972") {
		t.Error(err)
	}
	e := r.q.Effective()
	if e.InForce != (Copybreak{Way: Inline, Bytes: 100}) || e.Asked != e.InForce ||
		e.CopyMax != [numWays]int{0, 972, 256, 4096} || e.Why != "" {
		t.Errorf("%+v", e)
	}
	r.close()
	if err := r.q.SetCopybreak(Copybreak{}); err == nil {
		t.Error("of a queue that is closed")
	}
}

// What was asked for, and why less is in force.
func TestEffectiveOffloads(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want Offload
		why  string
	}{
		{Config{}, allOffloads, ""},
		{Config{Without: Checksum}, VLANInsert | MultiPacket, "segmentation needs checksums"},
		{Config{MinInline: desc.InlineIP}, allOffloads &^ MultiPacket,
			"no room for inline headers"},
		{Config{Without: allOffloads}, 0, ""},
	} {
		r := newRig(t, c.cfg, dma.Config{})
		e := r.q.Effective()
		if e.Offloads != c.want || c.why == "" && e.Why != "" || !strings.Contains(e.Why, c.why) {
			t.Errorf("%+v: %v, %q", c.cfg, e.Offloads, e.Why)
		}
		r.close()
	}
	s := (TSO | MultiPacket).String()
	if s != "tso skb_tx_mpwqe" || Offload(0).String() != "none" {
		t.Error(s)
	}
}
