package method

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// A Variant is one way to do the work.
type Variant struct {
	Name string // of its case; of a baseline: what it is
	// Measure does the work once, from opening to closing, on the calling
	// thread. It calls Begin when it is warm and Lap for every timed interval.
	Measure func(*Probe) (result.Values, error)
}

// A Group is a baseline and the variants measured in the same rounds.
type Group struct {
	Baseline Variant
	Variants []Variant
}

// Runs is the number of measurements in a round.
func (g *Group) Runs() int { return 1 + len(g.Variants) }

// A Plan says how groups are measured.
type Plan struct {
	Rounds int    // in which every variant is measured once
	Seed   uint64 // of the rounds: variants of a round share theirs
	CPU    int    // to which the thread is pinned; -1: none
	Rate   string // the metric whose ratio decides
	Again  int    // disturbed measurements that may still be taken again, once each
	Done   func() // called after each measurement; may be nil
}

// Run measures the group. When ctx ends it returns what complete rounds found;
// none is an empty list. It belongs on a locked thread.
func (p *Plan) Run(ctx context.Context, g *Group) ([]result.Case, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	subjects := append([]Variant{g.Baseline}, g.Variants...)
	cases := make([]result.Case, len(g.Variants))
	for i, v := range g.Variants {
		cases[i] = result.Case{Name: v.Name, Against: g.Baseline.Name, Metric: p.Rate}
	}
	for n := -1; n < p.Rounds; n++ {
		round, err := p.round(ctx, subjects, n)
		if err != nil {
			return nil, err
		}
		if round == nil {
			break
		}
		if n < 0 {
			continue
		}
		for i := range cases {
			cases[i].Rounds = append(cases[i].Rounds, pair(n, &round[0], &round[i+1]))
		}
	}
	if len(cases) == 0 || len(cases[0].Rounds) == 0 {
		return nil, nil
	}
	return cases, nil
}

// round measures every subject once, in order or backwards; nil when ctx ended
// before the last.
func (p *Plan) round(ctx context.Context, subjects []Variant, n int) ([]sample, error) {
	round := make([]sample, len(subjects))
	for k := range subjects {
		if ctx.Err() != nil {
			return nil, nil
		}
		i := k
		if n&1 != 0 {
			i = len(subjects) - 1 - k
		}
		runtime.GC()
		s, err := p.take(&subjects[i], p.Seed+uint64(n+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", subjects[i].Name, err)
		}
		round[i] = s
		if p.Done != nil {
			p.Done()
		}
	}
	return round, nil
}

// take measures a variant. What disturbs a measurement has nothing to do with
// what is measured, so one that was disturbed may be replaced.
func (p *Plan) take(v *Variant, seed uint64) (sample, error) {
	s, err := measure(v, seed, p.CPU)
	if err != nil || s.disturbed == "" || p.Again == 0 {
		return s, err
	}
	p.Again--
	return measure(v, seed, p.CPU)
}

// pair makes a round of a case. What disturbed one side disturbed the round.
func pair(n int, base, variant *sample) result.Round {
	r := result.Round{
		Number: n, Baseline: base.values, Variant: variant.values, Clock: variant.clock,
	}
	switch {
	case base.disturbed != "":
		r.Invalid = base.disturbed
	case variant.disturbed != "":
		r.Invalid = variant.disturbed
	default:
		r.Invalid = drifted(base.clock, variant.clock)
	}
	return r
}
