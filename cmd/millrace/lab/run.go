package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// options are the flags of a run.
type options struct {
	quick  bool
	rounds int
	cpu    int
	seed   uint64
	out    *output
}

// maxRounds keeps a slip of the finger from running for a week.
const maxRounds = 1000

func (o *options) check() error {
	if o.rounds != 0 && (o.rounds < stats.MinRounds || o.rounds > maxRounds) {
		return fmt.Errorf("--rounds %d: want %d to %d; an interval of 95 %% needs %[2]d",
			o.rounds, stats.MinRounds, maxRounds)
	}
	if o.cpu < -1 {
		return fmt.Errorf("--cpu %d: want the number of a CPU", o.cpu)
	}
	return nil
}

// A session is one run of the command: it owns the thread that measures.
type session struct {
	*options
	machine  machine.Machine
	progress *progress
}

// start locks and pins the thread and measures the machine. stop undoes it.
func (o *options) start(errOut io.Writer) (s *session, stop func(), err error) {
	runtime.LockOSThread()
	n, undo, err := method.Pin(o.cpu)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, nil, err
	}
	stop = func() { undo(); runtime.UnlockOSThread() }
	s = &session{options: o, machine: machine.Describe(n), progress: newProgress(errOut)}
	if err := s.machine.MeasureMemory(); err != nil {
		stop()
		return nil, nil, fmt.Errorf("measure memory: %w", err)
	}
	return s, stop, nil
}

// run performs experiments until ctx ends, and writes what they found.
func (o *options) run(ctx context.Context, list []*Experiment, out, errOut io.Writer) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			o.out.abort()
		}
	}()
	if err := o.out.open(out); err != nil {
		return err
	}
	s, stop, err := o.start(errOut)
	if err != nil {
		return err
	}
	defer stop()
	for _, e := range list {
		r, err := s.perform(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		if err := o.out.add(r, e.Pictures); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return o.out.commit()
}

// perform runs one experiment and decides on it.
func (s *session) perform(ctx context.Context, e *Experiment) (r *result.Result, err error) {
	b := &Bench{Quick: s.quick, Machine: &s.machine}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := e.Build(b); err != nil {
		return nil, err
	}
	r = s.begin(e)
	r.Notes, r.NotRun, r.Cases = b.Notes, b.NotRun, []result.Case{}
	s.progress.begin(e.Name, b.measurements(r.Rounds)+r.Rounds+1)
	defer s.progress.end()
	load := method.StartLoad()
	for i := range b.Groups {
		if err := s.group(ctx, r, e, &b.Groups[i], i == 0); err != nil {
			return nil, err
		}
	}
	r.Interrupted, r.Seconds = ctx.Err() != nil, time.Since(r.Started).Seconds()
	r.Judge()
	if n := load.CPUs(); n > othersAllowed {
		r.Notes = append(r.Notes, fmt.Sprintf("other processes kept %.1f CPUs busy "+
			"while this ran: they share caches and memory", n))
	}
	if e.Findings != nil {
		r.Findings = e.Findings(r)
	}
	for _, c := range e.Claims {
		r.Claims = append(r.Claims, c.check(r))
	}
	return r, nil
}

// othersAllowed is the load of other processes, in CPUs, that needs no remark.
const othersAllowed = 0.1

// roundsOf is the number of rounds of an experiment.
func (o *options) roundsOf(e *Experiment) int {
	if o.rounds != 0 {
		return o.rounds
	}
	return e.Rounds
}

// begin is a result without cases.
func (s *session) begin(e *Experiment) *result.Result {
	return &result.Result{
		Experiment: e.Name, Question: e.Question, Started: time.Now().Truncate(time.Second),
		Quick: s.quick, Seed: s.seed, Rounds: s.roundsOf(e), Machine: s.machine,
		Metrics: e.Metrics,
	}
}

// group measures a group; the first one's baseline against itself, too.
func (s *session) group(ctx context.Context, r *result.Result, e *Experiment, g *method.Group,
	first bool,
) error {
	again := *g
	if first {
		again.Variants = append([]method.Variant{{
			Name: "the same again", Measure: g.Baseline.Measure,
		}}, g.Variants...)
	}
	p := s.plan(e, s.seed, &again)
	spare := p.Again
	cases, err := p.Run(ctx, &again)
	if err != nil || len(cases) == 0 {
		return err
	}
	r.Repeated += spare - p.Again
	if first {
		r.Calibration, cases = &cases[0], cases[1:]
	}
	r.Cases = append(r.Cases, cases...)
	return nil
}

// repeatable is the part of a group's measurements, in percent, that may be taken
// again because they were disturbed: what it costs in time is bounded.
const repeatable = 15

func (s *session) plan(e *Experiment, seed uint64, g *method.Group) *method.Plan {
	rounds := s.roundsOf(e)
	return &method.Plan{
		Rounds: rounds, Seed: seed, CPU: s.machine.CPUPinned, Rate: e.Rate,
		Again: g.Runs() * rounds * repeatable / 100, Done: s.progress.step,
	}
}

// check asks whether a claim holds.
func (c *Claim) check(r *result.Result) result.Claim {
	here, holds := c.Check(r)
	if here == "" {
		here = "no figure"
	}
	return result.Claim{Text: c.Text, Thread: c.Thread, Wanted: c.Wanted, Here: here, Holds: holds}
}

// choose finds experiments by their names.
func choose(names []string) (list []*Experiment, err error) {
	for _, name := range names {
		e := find(name)
		if e == nil {
			return nil, fmt.Errorf("no experiment %q; there are %s (a file goes behind an equals "+
				"sign: --json=FILE)", name, strings.Join(known(), ", "))
		}
		list = append(list, e)
	}
	return list, nil
}

func known() (names []string) {
	for _, e := range experiments {
		names = append(names, e.Name)
	}
	return names
}
