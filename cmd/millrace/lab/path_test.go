package lab

import (
	"slices"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
)

// small is a machine whose caches make small benches.
func small(cpus int) *machine.Machine {
	return &machine.Machine{CPUs: cpus, LLCBytes: 1 << 20, MemoryBytes: 8 << 30}
}

func built(t *testing.T, e *Experiment, quick bool, cpus int) *Bench {
	t.Helper()
	b := &Bench{Quick: quick, Machine: small(cpus)}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Build(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// names are those of the cases of a bench.
func names(b *Bench) (list []string) {
	for _, g := range b.Groups {
		for _, v := range g.Variants {
			list = append(list, v.Name)
		}
	}
	return list
}

// The matrix is whole, no case is twice in it, --quick is a part of it, and
// every claim finds its cases.
func TestMatrix(t *testing.T) {
	for _, x := range []struct {
		e            *Experiment
		whole, quick int
	}{
		{&rxPrefetch, 4*4*(6*3+1) + 3*4*(6*2+1), len(prefetchQuick)},
		{&rxHeadlen, 2 * 2 * 2 * 3 * 2, 11},
		{&txSmall, txWhole, txQuick},
	} {
		whole, quick := names(built(t, x.e, false, 4)), names(built(t, x.e, true, 4))
		if len(whole) != x.whole || len(quick) != x.quick {
			t.Errorf("%s: %d cases, want %d; quick %d, want %d", x.e.Name, len(whole), x.whole,
				len(quick), x.quick)
		}
		slices.Sort(whole)
		if len(slices.Compact(whole)) != x.whole {
			t.Errorf("%s: a case is twice in the matrix", x.e.Name)
		}
		r := &result.Result{Experiment: x.e.Name}
		for _, name := range quick {
			if !slices.Contains(whole, name) {
				t.Errorf("%s: quick has %s, which is not in the matrix", x.e.Name, name)
			}
			c := result.Case{Name: name, Metric: x.e.Rate}
			for n := range 6 {
				v := result.Values{x.e.Rate: 1, "frag_list_share": 1, "len_per_truesize": 1}
				c.Rounds = append(c.Rounds, result.Round{Number: n, Baseline: v, Variant: v})
			}
			r.Cases = append(r.Cases, c)
		}
		r.Judge()
		for i := range x.e.Claims {
			if c := x.e.Claims[i].check(r); c.Holds == result.NotMeasured {
				t.Errorf("%s: --quick does not measure %q", x.e.Name, c.Text)
			}
		}
	}
}

func TestTooFewCPUs(t *testing.T) {
	b := built(t, &rxHeadlen, true, 2)
	if len(b.NotRun) != 4 || len(b.Groups) != 7 {
		t.Errorf("%d groups, not run: %v", len(b.Groups), b.NotRun)
	}
}

func TestWorkingSet(t *testing.T) {
	for _, x := range []struct{ llc, memory, want int }{
		{8 << 20, 24 << 30, 7}, // 1.5 times 8 MiB in lanes of 1.75 MiB
		{8 << 20, 0, 7},
		{256 << 20, 512 << 30, maxLanes},
		{256 << 20, 1 << 30, 16}, // a quarter of the memory
		{0, 24 << 30, 28},
		{8 << 20, 1 << 20, 1},
	} {
		m := &machine.Machine{LLCBytes: x.llc, MemoryBytes: x.memory}
		if got := workingSet(m, 7<<18, 16<<20); got != x.want {
			t.Errorf("%+v: %d lanes", x, got)
		}
	}
}

// measured runs a variant of a case and returns what it found.
func measured(t *testing.T, v *method.Variant) result.Values {
	t.Helper()
	got, err := v.Measure(&method.Probe{Seed: 1, CPU: -1})
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	for name, x := range got {
		if name != "frag_list_share" && name != "head_bytes_copied_per_packet" && !(x > 0) {
			t.Errorf("%s: %s is %v", v.Name, name, x)
		}
	}
	return got
}

// some is all groups, or a few of them where everything takes long.
func some(all []method.Group, few ...int) (list []method.Group) {
	if !testing.Short() && !check.On {
		return all
	}
	for _, i := range few {
		list = append(list, all[i])
	}
	return list
}

// What is counted, not timed, is exact: the baseline chains, the variant moves
// pages and wastes less memory; where packets are linear, both are alike.
func TestHeadlenCounts(t *testing.T) {
	for _, g := range some(built(t, &rxHeadlen, true, 2).Groups, 0, 4) {
		base, parsed := measured(t, &g.Baseline), measured(t, &g.Variants[0])
		c := &result.Case{Name: g.Variants[0].Name}
		const share, copied, use = "frag_list_share", "head_bytes_copied_per_packet",
			"len_per_truesize"
		if c.Key("lro") == "off" && c.Key("mtu") == "1500" {
			if base[share] != parsed[share] || base[copied] != 0 || base[use] != parsed[use] {
				t.Errorf("%s: linear packets differ: %v %v", c.Name, base, parsed)
			}
			continue
		}
		want := map[string]float64{"4": 66, "6": 86, "6in6": 126}[c.Key("ip")]
		if base[copied] != 256 || parsed[copied] != want {
			t.Errorf("%s: copied %v and %v, want 256 and %v", c.Name, base[copied],
				parsed[copied], want)
		}
		if base[share] < 0.9 || parsed[share] > 0.2 || lroCase(c) && parsed[share] != 0 {
			t.Errorf("%s: frag_list share %v and %v", c.Name, base[share], parsed[share])
		}
		if parsed[use] <= base[use] {
			t.Errorf("%s: len/truesize %v and %v", c.Name, base[use], parsed[use])
		}
	}
}

// Every workload of the prefetch experiment runs, with every kind of
// completion; no frame is lost.
func TestPrefetchRuns(t *testing.T) {
	for _, g := range some(built(t, &rxPrefetch, true, 2).Groups, 0, 2) {
		measured(t, &g.Baseline)
		measured(t, &g.Variants[0])
	}
}

// An application apart gets every byte and gives every packet back.
func TestApplicationApart(t *testing.T) {
	c := headlenCase{1500, true, "4", 64 << 10, "adjacent"}
	s := c.setup()
	memory, err := mem.Open(mem.Config{Pages: headlenPages})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	s.memory, s.pages, s.polls = []*mem.Region{memory}, headlenPages, 16
	var got reading
	s.values = func(r *reading) result.Values { got = *r; return result.Values{} }
	measured(t, &method.Variant{Name: c.name(), Measure: s.measure})
	if want := got.frames * (1500 - 52); got.payload != want || got.frames != 16*24 {
		t.Errorf("%d bytes of %d frames, want %d", got.payload, got.frames, want)
	}
}

// The timed loop allocates nothing.
func TestTurnAllocatesNothing(t *testing.T) {
	b := built(t, &rxPrefetch, true, 2)
	s, err := prefetchLoads[0].setup()
	if err != nil {
		t.Fatal(err)
	}
	s.memory = b.regions[:1]
	p := &method.Probe{CPU: -1}
	h, err := s.open(p)
	if err != nil {
		t.Fatal(err)
	}
	turn := func() { p.Lap(h.turn(&h.lanes[0], false)) }
	for range 64 {
		turn()
	}
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
}

func TestSixInSix(t *testing.T) {
	w, err := headlenCase{mtu: 1500, ip: "6in6"}.wire(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var f nic.Frame
		if !w.Next(0, &f) || len(f.Data) != 1514 {
			t.Fatalf("frame of %d bytes", len(f.Data))
		}
		var i header.Info
		header.Parse(f.Link, f.Data, nil, &i)
		if n := header.Length(f.Link, f.Data); n != 14+40+40+32 || int(i.End) != len(f.Data) ||
			i.Proto != header.ProtoTCP || i.Encap == header.EncapNone {
			t.Errorf("headers of %d bytes, %+v", n, i)
		}
	}
}

// Pages come in an order that the seed decides, each of them once.
func TestShuffled(t *testing.T) {
	r, err := mem.Open(mem.Config{Pages: 120, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	order := func(seed uint64) []mem.Ref {
		list := make([]mem.Ref, 101)
		s := newShuffled(r, 100, seed)
		if n := s.Alloc(list); n != 100 || s.Alloc(list[100:]) != 0 {
			t.Fatalf("%d pages of 100", n)
		}
		s.Release(list[7])
		if s.Alloc(list[100:]) != 1 || list[100] != list[7] {
			t.Error("a page that came back is lost")
		}
		return list[:100]
	}
	a, b := order(1), order(2)
	if !slices.Equal(a, order(1)) || slices.Equal(a, b) || slices.IsSorted(a) {
		t.Error("the order is not that of the seed")
	}
	slices.Sort(a)
	if len(slices.Compact(a)) != 100 {
		t.Error("a page came twice")
	}
}
