package method

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/internal/cpu"
)

// A diary is a group whose variants note their names and seeds.
type diary struct {
	names []string
	seeds []uint64
}

func (d *diary) variant(name string, rate float64) Variant {
	return Variant{name, func(p *Probe) (result.Values, error) {
		d.names, d.seeds = append(d.names, name), append(d.seeds, p.Seed)
		return result.Values{"mpps": rate}, nil
	}}
}

// All variants run in every round, every second round backwards, behind a
// round that warms up; those of a round have one seed.
func TestOrder(t *testing.T) {
	var d diary
	g := Group{d.variant("A", 1), []Variant{d.variant("B", 2), d.variant("C", 3)}}
	done := 0
	p := Plan{Rounds: 3, Seed: 7, CPU: -1, Rate: "mpps", Done: func() { done++ }}
	cases, err := p.Run(context.Background(), &g)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.names, ""); got != "CBA"+"ABC"+"CBA"+"ABC" {
		t.Errorf("order %s", got)
	}
	if !slices.Equal(d.seeds, []uint64{7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10}) || done != 12 {
		t.Errorf("seeds %v, %d done", d.seeds, done)
	}
	if len(cases) != 2 || cases[1].Name != "C" || cases[1].Against != "A" {
		t.Fatalf("%+v", cases)
	}
	for i, r := range cases[1].Rounds {
		if r.Number != i || r.Baseline["mpps"] != 1 || r.Variant["mpps"] != 3 {
			t.Errorf("round %d: %+v", i, r)
		}
	}
}

// When ctx ends, complete rounds stay and the one that was begun goes.
func TestInterrupted(t *testing.T) {
	for after, want := range map[int]int{1: 0, 4: 0, 5: 1, 7: 1, 8: 2} {
		var d diary
		g := Group{d.variant("A", 1), []Variant{d.variant("B", 2), d.variant("C", 3)}}
		ctx, cancel := context.WithCancel(context.Background())
		p := Plan{Rounds: 10, CPU: -1, Rate: "mpps"}
		n := 0
		p.Done = func() {
			if n++; n == after+1 {
				cancel()
			}
		}
		cases, err := p.Run(ctx, &g)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if len(cases) > 0 {
			got = len(cases[0].Rounds)
		}
		if got != want {
			t.Errorf("%d measurements: %d rounds, want %d", after+1, got, want)
		}
	}
}

// A disturbed measurement is taken again once, as long as there are any to spare;
// the second counts, disturbed or not.
func TestAgain(t *testing.T) {
	for _, x := range []struct{ spare, bad, runs, left int }{
		{0, 3, 10, 0}, {5, 0, 10, 5}, {5, 1, 11, 4}, {2, 9, 12, 0},
	} {
		runs := 0
		v := Variant{"A", func(p *Probe) (result.Values, error) {
			list := laps(1000, 10)
			if runs < x.bad {
				list = laps(1000, 3000)
			}
			runs++
			for _, ticks := range list {
				p.Lap(ticks)
			}
			return result.Values{"mpps": 1}, nil
		}}
		p := Plan{CPU: -1, Again: x.spare}
		for range 10 {
			if _, err := p.take(&v, 1); err != nil {
				t.Fatal(err)
			}
		}
		// Another load may disturb what was to be undisturbed.
		if runs < x.runs || p.Again > x.left || runs+p.Again != 10+x.spare {
			t.Errorf("%+v: %d measurements, %d left", x, runs, p.Again)
		}
	}
}

func TestFailure(t *testing.T) {
	broken := errors.New("no memory")
	g := Group{Variant{"A", func(*Probe) (result.Values, error) { return nil, broken }}, nil}
	_, err := (&Plan{Rounds: 1, CPU: -1}).Run(context.Background(), &g)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "A: ") {
		t.Errorf("%v", err)
	}
}

// laps are n of 10 us each, and one of the given length.
func laps(n int, us uint64) []uint64 {
	unit := cpu.PerSecond() / 1e6
	list := slices.Repeat([]uint64{10 * unit}, n)
	return append(list, us*unit)
}

func TestDisturbed(t *testing.T) {
	for _, x := range []struct {
		name string
		laps []uint64
		u    usage
		want string
	}{
		{"nothing", laps(1000, 10), usage{}, ""},
		{"an interrupt", laps(1000, 50), usage{switches: 2}, ""},
		{"a slice of another thread", laps(1000, 3000), usage{}, "lost ticks"},
		{"many switches", laps(1000, 10), usage{switches: 3}, "another load"},
		{"steal", laps(1000, 10), usage{stealMs: 10}, "steal"},
		{"no laps", nil, usage{}, ""},
	} {
		p := Probe{laps: x.laps}
		if got, _, _ := strings.Cut(p.disturbed(x.u), ":"); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	lost, total := lostTicks(laps(1000, 3000))
	if us := cpu.Nanoseconds(lost) / 1000; math.Abs(us-2985) > 10 || total < 1000*lost/300 {
		t.Errorf("lost %.0f us", us)
	}
}

func TestPairMarksRounds(t *testing.T) {
	good, bad := sample{clock: 1000}, sample{clock: 1000, disturbed: "steal: 10 ms"}
	slow := sample{clock: 1100}
	for _, x := range []struct {
		a, b sample
		want string
	}{{good, good, ""}, {good, bad, "steal"}, {bad, good, "steal"}, {good, slow, "clock"},
		{slow, good, "clock"}, {good, sample{clock: 1010}, ""}} {
		r := pair(0, &x.a, &x.b)
		if got, _, _ := strings.Cut(r.Invalid, ":"); got != x.want {
			t.Errorf("%+v %+v: %q, want %q", x.a, x.b, r.Invalid, x.want)
		}
	}
}

func TestStat(t *testing.T) {
	const text = "cpu  258913 1 50937 308622 3220 5 1219 1436 0 0\n" +
		"cpu0 128928 0 24821 156733 494 0 506 734 0 0\n" +
		"cpu1 129984 0 26115 151889 2726 0 712 701 0 0\nintr 5\n"
	for n, want := range map[int]int64{-1: 14360, 0: 7340, 1: 7010, 2: 0} {
		if got := steal(text, n); got != want {
			t.Errorf("cpu %d: %d ms, want %d", n, got, want)
		}
	}
	if got := busy(text); got != (258913+1+50937+5+1219)*10 {
		t.Errorf("busy %d ms", got)
	}
	if steal("", 0)+steal("cpu0 x y z 1 2 3 4 5 6\n", 0)+busy("nonsense") != 0 {
		t.Error("made up from nothing")
	}
}

func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, undo, err := Pin(-1)
	if err != nil {
		t.Fatal(err)
	}
	undo()
	if runtime.GOOS == "linux" && n < 0 {
		t.Error("not pinned")
	}
	if _, _, err := Pin(100000); err == nil || !strings.Contains(err.Error(), "--cpu 100000") {
		t.Errorf("CPU 100000: %v", err)
	}
}

func TestLoad(t *testing.T) {
	if n := StartLoad().CPUs(); n < 0 || n > 1000 {
		t.Errorf("%v CPUs", n)
	}
}
