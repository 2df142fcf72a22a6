package lab

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

const (
	selfRuns     = 10
	mostSelfRuns = 20
	selfClaims   = 1 // differences that may be claimed where there are none
)

// selftest runs the baseline of an experiment against itself ten times. A lab
// that finds differences there finds nothing elsewhere.
func (o *options) selftest(ctx context.Context, e *Experiment, out, errOut io.Writer) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	s, stop, err := o.start(errOut)
	if err != nil {
		return err
	}
	defer stop()
	b := &Bench{Quick: true, Machine: &s.machine}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := e.Build(b); err != nil {
		return err
	}
	r := s.begin(e)
	base := b.Groups[0].Baseline
	g := method.Group{Baseline: base}
	g.Variants = []method.Variant{{Name: base.Name + " again", Measure: base.Measure}}
	s.progress.begin("selftest of "+e.Name, selfRuns*g.Runs()*(r.Rounds+1))
	defer s.progress.end()
	// A run that was disturbed is replaced, whatever it would have said.
	for n := 0; n < mostSelfRuns && valid(r) < selfRuns && ctx.Err() == nil; n++ {
		cases, err := s.plan(e, s.seed+uint64(n*maxRounds), &g).Run(ctx, &g)
		if err != nil {
			return err
		}
		r.Cases = append(r.Cases, cases...)
		r.Judge()
	}
	s.progress.end()
	return verdictOnSelf(r, out)
}

// valid is the number of cases that have a verdict.
func valid(r *result.Result) (n int) {
	for i := range r.Cases {
		if r.Cases[i].Ratio != nil {
			n++
		}
	}
	return n
}

// verdictOnSelf prints the runs and says whether the lab can be trusted.
func verdictOnSelf(r *result.Result, out io.Writer) error {
	claimed := 0
	for i := range r.Cases {
		c := &r.Cases[i]
		text := string(c.Verdict)
		switch {
		case c.Ratio == nil:
			text += ": " + c.Reason
		case c.Verdict != stats.NoDifference:
			claimed++
		}
		if c.Ratio != nil {
			text += fmt.Sprintf("  %.3f [%.3f, %.3f]  p %s", c.Ratio.Value, c.Ratio.Low,
				c.Ratio.High, result.PText(*c.P))
		}
		fmt.Fprintf(out, "run %2d: %s\n", i+1, text)
	}
	fmt.Fprintf(out, "%s against itself, %d valid runs of %d rounds: a difference was claimed "+
		"%d times, %d allowed\n", r.Experiment, valid(r), r.Rounds, claimed, selfClaims)
	switch {
	case claimed > selfClaims:
		return fmt.Errorf("selftest: %d of %d runs claim a difference between equal things: "+
			"do not trust results of this machine as it is now", claimed, valid(r))
	case valid(r) < selfRuns:
		return fmt.Errorf("selftest: %d valid runs of %d that it takes (%s): it proves nothing",
			valid(r), selfRuns, r.Disturbed)
	}
	return nil
}
