package tx

import (
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
)

// last is the newest WQE that the device has seen.
func (d *device) last() seen { return d.wqes[len(d.wqes)-1] }

// A golden packet is head bytes and fragments, or with mss headers and fragments
// that the device is to cut, and the WQE it has to become.
type golden struct {
	name  string
	cfg   Config
	head  int
	frags []int
	mss   int
	tag   uint16

	segments, inline int
	bytes            uint64 // on the wire
}

// Sizes of facts/mlx5e.md 14, in segments: a heading of 2, the inline header,
// a pointer for each piece.
func goldens() []golden {
	l2 := Config{MinInline: desc.InlineL2}
	l2Inline := Config{MinInline: desc.InlineL2, Copybreak: Copybreak{Way: Inline, Bytes: 972}}
	inline := Config{Copybreak: Copybreak{Way: Inline, Bytes: 972}}
	most := slices.Repeat([]int{3000}, 17)
	vector := append(slices.Repeat([]int{4000}, 15), 4240) // 64306 bytes, 44 segments
	return []golden{
		{"plain", Config{}, 60, nil, 0, 0, 3, 0, 60},
		{"L2", l2, 60, nil, 0, 0, 4, 18, 60},
		{"no insertion", Config{Without: VLANInsert}, 60, nil, 0, 0x8100, 4, 18, 60},
		{"insertion", Config{}, 60, nil, 0, 0x8100, 3, 0, 60},
		{"L2 and a tag", l2, 60, nil, 0, 0x88a8, 4, 18, 60},
		{"LSO", Config{}, 0, most, 1448, 0, 23, 66, 66 + 51000 + 35*66},
		{"LSO with a tag", Config{}, 0, most, 1448, 0x8100, 24, 70, 66 + 51000 + 35*66},
		{"LSO bytes", Config{MTU: 1600}, 0, vector, 1460, 0, 22, 66, 67144},
		{"inline", inline, 60, nil, 0, 0, 2 + 4, 0, 60},
		{"inline 252", inline, 252, nil, 0, 0, 2 + 16, 0, 252},
		{"inline, the most", inline, 972, nil, 0, 0, 63, 0, 972},
		{"inline, L2", l2Inline, 900, []int{72}, 0, 0, 2 + 61, 972, 972},
	}
}

func TestGoldenSizes(t *testing.T) {
	for _, c := range goldens() {
		c.cfg.Without |= MultiPacket
		r := newRig(t, c.cfg, dma.Config{})
		i, op := uint32(0), desc.SendFrame
		if c.mss > 0 {
			i, _ = r.packetOf(tcp4Kind(), c.mss, 0, c.frags...)
			op = desc.SendLarge
		} else {
			i, _ = r.blank(c.head, c.frags...)
		}
		r.slab.At(i).TagType = c.tag
		r.put(i)
		r.turn()
		if len(r.dev.wqes) != 1 {
			t.Fatalf("%s: %d WQEs, %+v", c.name, len(r.dev.wqes), r.q.Stats())
		}
		w := r.dev.last()
		if w.segments != c.segments || w.inline != c.inline || w.op != op || int(w.mss) != c.mss {
			t.Errorf("%s: %+v", c.name, w)
		}
		if got := r.q.Stats().Bytes; got != c.bytes {
			t.Errorf("%s: %d bytes on the wire, want %d", c.name, got, c.bytes)
		}
		r.close()
	}
}

// A WQE of 6 blocks at 62 of 64 begins in the next fragment, behind two NOPs;
// 11 blocks are what such a one needs (facts/mlx5e.md 1.8, 14; 12, bug 42).
func TestGoldenFragmentEdge(t *testing.T) {
	if stopRoom(6) != 11 || stopRoom(16) != 31 || stopRoom(15) != 29 {
		t.Errorf("stop rooms %d, %d, %d", stopRoom(6), stopRoom(16), stopRoom(15))
	}
	r := newRig(t, Config{Without: MultiPacket}, dma.Config{})
	for range 62 {
		r.add(60)
	}
	r.turn()
	i, _ := r.packetOf(tcp4Kind(), 1448, 0, slices.Repeat([]int{500}, 17)...)
	r.put(i)
	r.turn()
	w, s := r.dev.last(), r.q.Stats()
	if w.at != 64 || w.segments != 23 || s.Nop != 2 || r.dev.nops != 2 {
		t.Errorf("%+v, %d NOPs", w, s.Nop)
	}
}

// A session of 20 packets has 22 segments, the largest 60: 16 blocks would be
// 64, which 6 bits cannot say (facts/mlx5e.md 14; 12, bug 41). With 3 blocks to
// the edge it takes 10 packets.
func TestGoldenSessions(t *testing.T) {
	r := newRig(t, Config{}, dma.Config{})
	burst := func(n int) {
		for range n {
			r.add(100)
		}
		r.turn()
	}
	burst(20)
	if w := r.dev.last(); w.segments != 22 || w.op != desc.SendMulti || w.pieces != 20 {
		t.Errorf("20 packets: %+v", w)
	}
	burst(58 + 1)
	n := len(r.dev.wqes)
	a, b := r.dev.wqes[n-2], r.dev.last()
	if a.segments != 60 || b.segments != 3 || a.at != 6 || b.at != 21 {
		t.Errorf("59 packets: %+v and %+v", a, b)
	}
	for r.q.ring.Producer() < 61 {
		burst(1)
	}
	burst(11)
	n = len(r.dev.wqes)
	a, b = r.dev.wqes[n-2], r.dev.last()
	if a.at != 61 || a.segments != 12 || b.at != 64 || b.segments != 3 {
		t.Errorf("11 packets at block 61: %+v and %+v", a, b)
	}
	s := r.q.Stats()
	if s.Nop != 0 || s.MPWQEPkts != s.Posted || s.MPWQEBlks != uint64(len(r.dev.wqes)) {
		t.Errorf("%+v", s)
	}
}

// Of five packets before one doorbell only the last one asks, and its
// completion is that of all five (facts/mlx5e.md 14).
func TestGoldenCompletion(t *testing.T) {
	r := newRig(t, Config{Without: MultiPacket}, dma.Config{})
	for range 5 {
		r.add(200, 100)
	}
	r.post()
	r.dev.step(99)
	for i, w := range r.dev.wqes {
		if w.asks != (i == 4) {
			t.Errorf("WQE %d asks: %v", i, w.asks)
		}
	}
	if got := r.dev.sq.CQ.At(0).Own().WQECounter(); got != r.dev.last().at || r.home != 0 {
		t.Errorf("counter %d, %d at home", got, r.home)
	}
	r.reap()
	s := r.q.Stats()
	if r.home != 5 || s.CQEs != 1 || s.Doorbells != 1 || s.XmitMore != 4 || s.Done != 5 {
		t.Errorf("%d at home, %+v", r.home, s)
	}
}

// A queue goes on where the counters of blocks wrap at 2^16, and the ring at
// every offset of it, with WQEs of all lengths.
func TestRingWraps(t *testing.T) {
	ways := []Copybreak{{}, {Way: Inline, Bytes: 476}}
	if testing.Short() {
		ways = ways[1:]
	}
	for _, c := range ways {
		cfg := Config{Blocks: 64, Without: MultiPacket, Copybreak: c}
		r := newRig(t, cfg, dma.Config{Mode: dma.Strict})
		starts := map[uint16]bool{}
		for k := 0; r.q.ring.Producer() < 1<<16+200; k++ {
			var want [][]byte
			for j := range 1 + k%3 {
				frags := make([]int, (k+j*5)%17)
				for f := range frags {
					frags[f] = 80
				}
				want = append(want, r.add(20+k%50, frags...))
			}
			r.turn()
			r.same("around", want)
			for _, w := range r.dev.wqes {
				starts[w.at%64] = true
			}
			r.dev.wqes = nil
		}
		if len(starts) < 60 {
			t.Errorf("WQEs began at %d offsets of 64", len(starts))
		}
		r.close()
	}
}
