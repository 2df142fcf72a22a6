package tx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

var modes = []dma.Config{
	{Mode: dma.Passthrough}, {Mode: dma.Strict}, {Mode: dma.Lazy},
	{Mode: dma.Bounce, Poison: true},
}

// copybreaks are all ways, at their limits and inside.
var copybreaks = []Copybreak{
	{}, {Way: Inline, Bytes: 200}, {Way: Inline, Bytes: 972}, {Way: Premapped},
	{Way: Premapped, Bytes: 200}, {Way: Premapped, Bytes: 2048},
	{Way: Linearize, Bytes: 200}, {Way: Linearize, Bytes: 4096},
}

// mix puts one packet of each sort into the batch, and returns the frames that
// have to leave for them.
func (r *rig) mix() (want [][]byte) {
	add := func(i uint32, p *packet.Packet) {
		want = append(want, r.wire(p)...)
		r.put(i)
	}
	for _, n := range []int{14, 60, 64, 100, 200, 201, 972, 973, 1514} {
		add(r.blank(n))
	}
	for _, n := range []int{14, 18, 42, 300} {
		add(r.blank(n, 1))
		add(r.blank(n, 100))
		add(r.blank(n, 400, 300, 200))
	}
	add(r.blank(0, 14))
	add(r.blank(0, 200, 700))
	add(r.blank(14, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80))
	for _, tag := range []uint16{0x8100, 0x88a8, 0x9100} {
		for _, n := range []int{14, 60, 300, 1514} {
			i, p := r.blank(n)
			p.TagType, p.TagTCI = tag, 0xe123
			add(i, p)
		}
		i, p := r.blank(54, 100)
		p.TagType, p.TagTCI = tag, 7
		add(i, p)
	}
	for _, k := range kinds() {
		add(r.packetOf(k, 0, 3))
		add(r.packetOf(k, 0, 0, 100))
		add(r.packetOf(k, 0, 20, 500, 301))
		i, p := r.packetOf(k, 0, 0, 99)
		p.TagType, p.TagTCI = 0x8100, 9
		add(i, p)
	}
	return append(want, r.larges()...)
}

// larges puts packets that are to be cut.
func (r *rig) larges() (want [][]byte) {
	add := func(i uint32, p *packet.Packet) {
		want = append(want, r.wire(p)...)
		r.put(i)
	}
	for _, k := range kinds() {
		add(r.packetOf(k, 1300, 0, 3000, 3000, 1))
		add(r.packetOf(k, 500, 700, 600))
		add(r.packetOf(k, 1000, 100)) // one segment
		add(r.packetOf(k, 100, 1000))
		i, p := r.packetOf(k, 1200, 0, 1200, 1200)
		p.TagType, p.TagTCI = 0x88a8, 11
		add(i, p)
		i, p = r.packetOf(k, 700, 10, 1200)
		p.TagType, p.TagTCI = 0x9100, 12
		add(i, p)
		add(r.chained(k, 900, 100, 300, 1000))
	}
	return want
}

// chained is a packet with others behind it, each of a head and a fragment.
func (r *rig) chained(k kind, size int, linear int, others ...int) (uint32, *packet.Packet) {
	i, p := r.packetOf(k, size, linear)
	s := p.Shared()
	last := &s.Chain
	for _, n := range others {
		c, q := r.blank(n, n/2)
		*last = c
		last = &q.Next
		p.Len += q.Len
		r.chains[i] = append(r.chains[i], c)
	}
	lengths(p.Bytes()[:len(k.head)], &k.gso, int(p.Len))
	return i, p
}

func (r *rig) same(what string, want [][]byte) {
	r.t.Helper()
	if len(r.dev.sent) != len(want) {
		r.t.Fatalf("%s: %d frames left, want %d", what, len(r.dev.sent), len(want))
	}
	for i := range want {
		if !bytes.Equal(r.dev.sent[i], want[i]) {
			r.t.Fatalf("%s: frame %d of %d bytes, want %d:\n%x\n%x", what, i,
				len(r.dev.sent[i]), len(want[i]), r.dev.sent[i], want[i])
		}
	}
	r.dev.sent = nil
}

// The bytes on the wire are the same in all ways and modes, and whoever cuts,
// fills in checksums and inserts tags.
func TestSameBytes(t *testing.T) {
	run := func(what string, cfg Config, d dma.Config) {
		t.Helper()
		cfg.BufBytes, cfg.MTU = 2048, 1600
		r := newRig(t, cfg, d)
		want := r.mix()
		r.turn()
		r.same(what, want)
		if s := r.q.Stats(); s.Dropped != 0 || s.Recover != 0 {
			t.Errorf("%s: %+v", what, s)
		}
		r.close()
	}
	for _, d := range modes {
		for _, c := range copybreaks {
			run(fmt.Sprint(d.Mode, " ", c), Config{Copybreak: c}, d)
		}
	}
	bounce := modes[3]
	if testing.Short() {
		return
	}
	for without := range allOffloads + 1 {
		run("without "+without.String(), Config{Without: without}, bounce)
		run("without "+without.String()+", premapped", Config{
			Without: without, Copybreak: Copybreak{Way: Premapped, Bytes: 300},
		}, bounce)
	}
	for mode := desc.InlineL2; mode <= desc.InlineTCPUDP; mode++ {
		for _, c := range copybreaks {
			for _, without := range []Offload{0, TSO | VLANInsert, allOffloads} {
				run(fmt.Sprint(mode, " ", c, " without ", without),
					Config{MinInline: mode, Copybreak: c, Without: without}, bounce)
			}
		}
	}
}

// Maps per packet of a head and a fragment in another page: two if it is
// mapped, none if it is copied by way of the WQE or a premapped buffer, one if
// only its headers are, or if it is linearized.
func TestMapsPerPacket(t *testing.T) {
	for _, c := range []struct {
		Copybreak
		maps     uint64
		whole    Way
		atHome   int // before the device has done anything
		headings uint64
	}{
		{Copybreak{}, 2, Mapped, 0, 0},
		{Copybreak{Way: Inline, Bytes: 200}, 0, Inline, 10, 0},
		{Copybreak{Way: Inline, Bytes: 100}, 2, Mapped, 0, 0},
		{Copybreak{Way: Premapped, Bytes: 200}, 0, Premapped, 10, 0},
		{Copybreak{Way: Premapped, Bytes: 100}, 1, Mapped, 0, 10},
		{Copybreak{Way: Premapped}, 1, Mapped, 0, 10},
		{Copybreak{Way: Linearize, Bytes: 200}, 1, Linearize, 10, 0},
	} {
		for _, without := range []Offload{0, MultiPacket} {
			for _, d := range modes {
				r := newRig(t, Config{Copybreak: c.Copybreak, Without: without}, d)
				r.reap()
				before := r.dom.Stats()
				for range 10 {
					r.add(66, 100)
				}
				r.post()
				if r.home != c.atHome {
					t.Errorf("%v: %d at home behind Post, want %d", c.Copybreak, r.home, c.atHome)
				}
				r.turn()
				s, q := r.dom.Stats(), r.q.Stats()
				if s.Maps-before.Maps != 10*c.maps || s.Unmaps-before.Unmaps != 10*c.maps {
					t.Errorf("%v, %v: %d maps, %d unmaps, want %d", c.Copybreak, d.Mode,
						s.Maps-before.Maps, s.Unmaps-before.Unmaps, 10*c.maps)
				}
				if q.Ways[c.whole] != (Tally{10, 1660}) || q.Headers.Packets != c.headings {
					t.Errorf("%v: %+v", c.Copybreak, q)
				}
				r.close()
			}
		}
	}
}

// Invalidations: one an unmap in strict mode, fewer in lazy, none without an
// IOMMU. Doorbells: one a batch.
func TestInvalidationsAndDoorbells(t *testing.T) {
	var counts []uint64
	for _, d := range modes[:3] {
		r := newRig(t, Config{}, d)
		for range 40 {
			for range 8 {
				r.add(66, 1000)
			}
			r.turn()
		}
		if s := r.q.Stats(); s.Doorbells != 40 || s.CQEs != 40 || s.XmitMore != 40*7 {
			t.Errorf("%v: %d doorbells, %d CQEs, %d more", d.Mode, s.Doorbells, s.CQEs, s.XmitMore)
		}
		counts = append(counts, r.dom.Stats().Invalidations)
	}
	if counts[0] != 0 || counts[1] < counts[2] || counts[1] != 640 {
		t.Errorf("invalidations: %d", counts)
	}
}

// Pages that stay mapped are neither mapped nor unmapped, also beside others in
// one packet (facts/mlx5e.md 12, bug 36).
func TestKeptMapped(t *testing.T) {
	for _, d := range modes {
		r := newRig(t, Config{KeptMapped: true}, d)
		var kept []mem.Ref
		for k, page := range r.pages {
			if k%3 != 0 {
				continue
			}
			kept = append(kept, page)
			iova, err := r.dom.Map(page)
			if err != nil {
				t.Fatal(err)
			}
			page.Meta().IOVA = iova
		}
		r.reap()
		before := r.dom.Stats()
		var want [][]byte
		for range 60 {
			want = append(want, r.add(66, 100, 200, 300))
		}
		maps := uint64(0)
		for k := range r.batch.Len() {
			p := r.batch.At(k)
			refs := []packet.Frag{{Ref: p.Head}}
			for _, f := range append(refs, p.Shared().Frags[:3]...) {
				if f.Ref.Meta().IOVA == 0 {
					maps++
				}
			}
		}
		r.turn()
		r.same(d.Mode.String(), want)
		s := r.dom.Stats()
		if n := s.Maps - before.Maps; n != maps || s.Unmaps-before.Unmaps != n || n == 0 {
			t.Errorf("%v: %d maps, %d unmaps, want %d", d.Mode, n, s.Unmaps-before.Unmaps, maps)
		}
		for _, page := range kept {
			r.dom.Unmap(page.Meta().IOVA)
			page.Meta().IOVA = 0
		}
		r.close()
	}
}
