package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// fake is an experiment whose variant is so many times as fast, without any
// work.
func fake(gain float64) *Experiment {
	measure := func(rate float64) func(*method.Probe) (result.Values, error) {
		return func(p *method.Probe) (result.Values, error) {
			rate := rate * (1 + float64(p.Seed%3)/1000)
			return result.Values{"mpps": rate, "ns_per_packet": 1e3 / rate}, nil
		}
	}
	return &Experiment{
		Name: "fake", Question: "Does the lab work?", Rate: "mpps", Rounds: 7,
		Metrics: []result.Metric{{Name: "mpps", Label: "Mpps", Digits: 2}},
		Build: func(b *Bench) error {
			for _, name := range []string{"one/x=1", "two/x=2"} {
				b.Groups = append(b.Groups, method.Group{
					Baseline: method.Variant{Name: "x=0", Measure: measure(2)},
					Variants: []method.Variant{{Name: name, Measure: measure(2 * gain)}},
				})
			}
			return nil
		},
		Claims: []Claim{
			{"it is faster", "1.36x", "at least 1.5x", atLeast("one/x=1", 1.5)},
			{"something else", "2x", "above 1", above("three")},
		},
		Pictures: []page.Picture{{Title: "Ratios", See: "right", Kind: page.Ratios,
			Where: func(*result.Case) bool { return true }}},
	}
}

func testOptions() *options {
	return &options{rounds: 6, cpu: -1, seed: 1, out: newOutput()}
}

// perform runs experiments with the options and reads the JSON on standard
// output.
func perform(t *testing.T, ctx context.Context, o *options, list ...*Experiment) *result.Result {
	t.Helper()
	o.out.forms[0].to = stdout
	var out, errOut bytes.Buffer
	if err := o.run(ctx, list, &out, &errOut); err != nil {
		t.Fatal(err)
	}
	if errOut.Len() > 0 {
		t.Errorf("progress where there is no terminal: %q", errOut.String())
	}
	results, err := result.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func TestRun(t *testing.T) {
	r := perform(t, context.Background(), testOptions(), fake(1.6))
	if len(r.Cases) != 2 || r.Calibration == nil || r.Machine.DRAMLatencyNs == 0 || r.Interrupted {
		t.Fatalf("%+v", r)
	}
	for _, c := range r.Cases {
		if len(c.Rounds) != 6 || c.Against != "x=0" {
			t.Errorf("%s: %d rounds against %s", c.Name, len(c.Rounds), c.Against)
		}
	}
	// A busy machine may disturb the rounds, but it does not change the claims'
	// texts, nor make one hold that has no case.
	if r.Claims[0].Text != "it is faster" || r.Claims[0].Holds == result.No ||
		r.Claims[1].Holds != result.NotMeasured {
		t.Errorf("%+v", r.Claims)
	}
}

// After an interrupt the finished rounds are in valid files.
func TestInterruptLeavesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	e := fake(1.6)
	build, n := e.Build, 0
	e.Build = func(b *Bench) error {
		err := build(b)
		g := &b.Groups[1] // while the second group runs
		inner := g.Baseline.Measure
		g.Baseline.Measure = func(p *method.Probe) (result.Values, error) {
			if n++; n == 4 {
				cancel()
			}
			return inner(p)
		}
		return err
	}
	o := testOptions()
	o.out.html = filepath.Join(dir, "report.html")
	o.out.forms[2].to = filepath.Join(dir, "report.md")
	r := perform(t, ctx, o, e, fake(1))
	if !r.Interrupted || len(r.Cases) != 2 || len(r.Cases[0].Rounds) != 6 {
		t.Fatalf("interrupted %v, %d cases", r.Interrupted, len(r.Cases))
	}
	if got := len(r.Cases[1].Rounds); got != 2 || r.Cases[1].Verdict != "invalid" {
		t.Errorf("%d rounds of the second group, want 2; %s", got, r.Cases[1].Verdict)
	}
	for name, want := range map[string]string{
		"report.html": "</html>", "report.md": "INTERRUPTED",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, no %q", name, err, want)
		}
	}
	alone(t, dir, "report.html", "report.md")
}

// alone checks that a directory has these files and no other.
func alone(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// A run that fails leaves no file, and the old one as it was.
func TestFailureLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.json")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no memory left")
	e := fake(1)
	e.Build = func(b *Bench) error { return broken }
	o := testOptions()
	o.out.forms[0].to, o.out.html = old, filepath.Join(dir, "new.html")
	err := o.run(context.Background(), []*Experiment{e}, &bytes.Buffer{}, &bytes.Buffer{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "fake: ") {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(old); string(b) != "old" {
		t.Errorf("the old file is %q", b)
	}
	alone(t, dir, "old.json")
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*options){
		"--rounds 5":        func(o *options) { o.rounds = 5 },
		"--rounds 1001":     func(o *options) { o.rounds = 1001 },
		"--cpu -2":          func(o *options) { o.cpu = -2 },
		"--cpu 99999":       func(o *options) { o.cpu = 99999 },
		"takes one form":    func(o *options) { o.out.forms[0].to, o.out.forms[1].to = "-", "-" },
		"it is a directory": func(o *options) { o.out.html = os.TempDir() },
		"no such file":      func(o *options) { o.out.forms[0].to = "/nowhere/at/all.json" },
	} {
		o := testOptions()
		change(o)
		err := o.run(context.Background(), []*Experiment{fake(1)}, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := choose([]string{"rx-prefetch", "after.json"}); err == nil ||
		!strings.Contains(err.Error(), "rx-headlen, rx-prefetch") {
		t.Errorf("%v", err)
	}
}

func TestSelftest(t *testing.T) {
	for name, x := range map[string]struct {
		gain float64
		want string
	}{"equal": {1, ""}, "not equal": {1.5, "do not trust"}} {
		e := fake(1)
		build := e.Build
		e.Build = func(b *Bench) error {
			err := build(b)
			n, inner := 0, b.Groups[0].Baseline.Measure
			b.Groups[0].Baseline.Measure = func(p *method.Probe) (result.Values, error) {
				v, err := inner(p)
				// Both sides are this function: the second of a round backwards is
				// the baseline.
				if n++; n%4 == 1 || n%4 == 0 {
					v["mpps"] *= x.gain
				}
				return v, err
			}
			return err
		}
		var out bytes.Buffer
		err := testOptions().selftest(context.Background(), e, &out, &bytes.Buffer{})
		text := ""
		if err != nil {
			text = err.Error()
		}
		// On a busy machine runs may be invalid; that is said, too.
		if strings.Contains(text, "proves nothing") {
			t.Log(text)
			continue
		}
		if !strings.Contains(text, x.want) || x.want == "" && err != nil {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		if !strings.Contains(out.String(), "run 10: ") {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
}

// The command: list, compare, and the forms of --json.
func TestCommand(t *testing.T) {
	experiments = append(experiments, fake(1.5))
	defer func() { experiments = experiments[:len(experiments)-1] }()
	dir := t.TempDir()
	call := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := Command()
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(args)
		err := c.Execute()
		return out.String(), err
	}
	if out, err := call("list"); err != nil || !strings.Contains(out, "rx-headlen") ||
		!strings.Contains(out, "rx-prefetch") {
		t.Errorf("list: %v\n%s", err, out)
	}
	out, err := call("fake", "--json")
	if err != nil || !json.Valid([]byte(out)) || !strings.Contains(out, `"rounds_planned":7`) {
		t.Errorf("--json: %v\n%s", err, out)
	}
	file := filepath.Join(dir, "a.json")
	if out, err = call("fake", "--rounds", "6", "--json="+file); err != nil ||
		!strings.Contains(out, "fake: Does the lab work?") {
		t.Errorf("--json=FILE: %v\n%s", err, out)
	}
	if out, err = call("compare", file, file); err != nil ||
		!strings.Contains(out, "environment: no difference") {
		t.Errorf("compare: %v\n%s", err, out)
	}
	for _, args := range [][]string{{}, {"unknown"}, {"compare", file}, {"compare", file, "/no/b"},
		{"list", "x"}, {"selftest", "unknown"}} {
		if _, err := call(args...); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
