package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// rounds are n in which the variant is so many times as fast, with a little
// noise that is the same in every call.
func rounds(n int, gain float64) (list []Round) {
	for i := range n {
		speed := 4 + 0.01*float64(i*7%5)
		base := Values{"mpps": speed, "ns_per_packet": 1e3 / speed}
		speed *= gain * (1 + 0.001*float64(i*3%4))
		list = append(list, Round{
			Number: i, Baseline: base, Variant: Values{"mpps": speed, "ns_per_packet": 1e3 / speed},
		})
	}
	return list
}

func sampleResult() *Result {
	r := &Result{
		Experiment: "rx-test", Question: "Is it faster?", Rounds: 12, Seed: 1, Seconds: 3,
		Started: time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC),
		Machine: machine.Machine{ID: "m1", CPU: "Test CPU", CPUs: 4, Kernel: "6.18"},
		Notes:   []string{"working set: twice the cache"},
		Metrics: []Metric{{"mpps", "Mpps", 2}, {"ns_per_packet", "ns/packet", 1}},
		Calibration: &Case{Name: "same", Against: "distance=0", Metric: "mpps",
			Rounds: rounds(12, 1)},
		NotRun: []NotRun{{"flood/core=adjacent", "needs 3 CPUs"}},
		Findings: []Table{{Title: "What was found", Note: "look at the gain",
			Columns: []string{"mode", "gain"},
			Rows: [][]Cell{
				{Text("%s", "strict"), {"+14.5 %", &stats.Interval{
					Value: 1.145, Low: 1.1, High: 1.2}}},
				{Text("lazy"), Text("-")},
			}}},
		Claims: []Claim{{"it is faster", "1.36x", "at least 1.5x", "1.50x", Yes}},
	}
	for _, gain := range []float64{1.5, 1, 0.8} {
		r.Cases = append(r.Cases, Case{Name: fmt.Sprintf("flood/size=512/gain=%v", gain),
			Against: "distance=0", Metric: "mpps", Rounds: rounds(12, gain)})
	}
	r.Judge()
	return r
}

func TestJudge(t *testing.T) {
	r := sampleResult()
	for i, want := range []stats.Verdict{stats.Faster, stats.NoDifference, stats.Slower} {
		if c := &r.Cases[i]; c.Verdict != want || c.Ratio == nil || c.Invalid != 0 {
			t.Errorf("%s: %s, want %s: %+v", c.Name, c.Verdict, want, c.Ratio)
		}
	}
	if r.Threshold != stats.MinThreshold || r.Disturbed != "" {
		t.Errorf("threshold %v, disturbed %q", r.Threshold, r.Disturbed)
	}
	c := &r.Cases[0]
	if got := c.Variant["mpps"] / c.Baseline["mpps"]; got < 1.49 || got > 1.51 {
		t.Errorf("medians are %v apart", got)
	}
}

// A disturbed round counts for nothing, however far it is off, and is kept
// with its reason; with too few others there is no verdict.
func TestDisturbedRounds(t *testing.T) {
	r := sampleResult()
	for i := range 3 {
		r.Cases[1].Rounds[i].Variant["mpps"] = 1000
		r.Cases[1].Rounds[i].Invalid = "steal: the hypervisor took the CPU for 10 ms"
	}
	for i := range 9 {
		r.Cases[2].Rounds[i].Invalid = "another load: it took the CPU 5 times"
	}
	r.Judge()
	if c := &r.Cases[1]; c.Verdict != stats.NoDifference || c.Invalid != 3 || len(c.Rounds) != 12 {
		t.Errorf("%s, %d invalid of %d", c.Verdict, c.Invalid, len(c.Rounds))
	}
	c := &r.Cases[2]
	if c.Verdict != stats.Invalid || c.Ratio != nil || !strings.Contains(c.Reason, "3 valid") {
		t.Errorf("%+v", c)
	}
	if want := "another load in 9 of 36 rounds, steal in 3 of 36 rounds"; r.Disturbed != want {
		t.Errorf("disturbed %q, want %q", r.Disturbed, want)
	}
	for i := range r.Cases[2].Rounds {
		r.Cases[2].Rounds[i].Invalid = "steal: 1 ms"
	}
	if r.Judge(); r.Cases[2].Baseline["mpps"] == 0 {
		t.Error("a case without a valid round shows nothing")
	}
}

// The baseline against itself sets the smallest change that is one.
func TestCalibrationSetsTheThreshold(t *testing.T) {
	r := sampleResult()
	for i := range r.Calibration.Rounds {
		r.Calibration.Rounds[i].Variant["mpps"] *= 1 + 0.3*float64(i%2)
	}
	r.Cases[2].Rounds = rounds(12, 1.2)
	r.Judge()
	if r.Threshold < 0.25 || r.Cases[2].Verdict != stats.NoDifference ||
		r.Cases[0].Verdict != stats.Faster {
		t.Errorf("threshold %v, %s, %s", r.Threshold, r.Cases[2].Verdict, r.Cases[0].Verdict)
	}
}

func TestJSON(t *testing.T) {
	r := sampleResult()
	var b bytes.Buffer
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
	var raw struct {
		Experiment string
		Machine    map[string]any
		Cases      []struct {
			Name              string
			Baseline, Variant map[string]float64
			Ratio             map[string]float64
			P                 *float64 `json:"p_value"`
			Verdict           string
			Rounds            []any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	c := raw.Cases[0]
	if raw.Experiment != "rx-test" || raw.Machine["cpu"] != "Test CPU" || c.P == nil ||
		c.Ratio["value"] < c.Ratio["ci95_low"] || c.Ratio["ci95_high"] < c.Ratio["value"] ||
		c.Ratio["ci95_low"] < 1 || c.Verdict != "faster" || len(c.Rounds) != 12 ||
		c.Baseline["ns_per_packet"] == 0 {
		t.Errorf("%+v", raw)
	}
	again, err := Read(bytes.NewReader(append(b.Bytes(), b.Bytes()...)))
	if f := again[0].Findings; len(f) != 1 || f[0].Rows[0][1].Value != 1.145 ||
		f[0].Rows[1][1] != Text("-") || f[0].Rows[0][0].Text != "strict" {
		t.Errorf("findings %+v", f)
	}
	if err != nil || len(again) != 2 || again[1].Find(c.Name) == nil || again[1].Find("x") != nil {
		t.Errorf("read %d, %v", len(again), err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "nonsense", `{"experiment":"x"}`, "[]",
		`{"experiment":"x","machine":{"cpu":"y"}} trailing`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken for a result", text)
		}
	}
}

func TestTable(t *testing.T) {
	r := sampleResult()
	r.Interrupted = true
	r.Cases[1].Rounds[0].Invalid = "steal: 10 ms"
	r.Judge()
	for name, write := range map[string]func(*Result, *bytes.Buffer) error{
		"table":    func(r *Result, b *bytes.Buffer) error { return r.Table(b) },
		"markdown": func(r *Result, b *bytes.Buffer) error { return r.Markdown(b) },
	} {
		var b bytes.Buffer
		if err := write(r, &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Test CPU", "flood/size=512/gain=1.5", "faster", "slower",
			"no difference", "at least 1.5x", "1.36x", "needs 3 CPUs", "INTERRUPTED", "DISTURBED",
			"What was found", "look at the gain", "+14.5 %", "lazy",
			"steal in 1 of 36", "working set: twice", "smaller changes than 1.0 %", "[1.5"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, b.String())
			}
		}
	}
}

// Columns of Markdown are aligned, so that it reads as text.
func TestMarkdownIsAligned(t *testing.T) {
	var b bytes.Buffer
	markdownTable(&b, [][]string{{"a", "bb"}, {"longer", "c"}})
	const want = "| a      | bb |\n|--------|----|\n| longer | c  |\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// What we write benchstat reads: every valid round, both sides.
func TestBenchstat(t *testing.T) {
	r := sampleResult()
	r.Cases[0].Rounds[3].Invalid = "steal: 10 ms"
	r.Judge()
	var b bytes.Buffer
	if err := r.Benchstat(&b); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for reader := benchfmt.NewReader(&b, "out"); reader.Scan(); {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			count[string(rec.Name)]++
			if v, ok := rec.Value("sec/packet"); !ok || v <= 1e-9 || v > 1e-6 {
				t.Fatalf("%s takes %v s a packet", rec.Name, v)
			}
			if rec.GetConfig("cpu") != "Test CPU" {
				t.Errorf("cpu %q", rec.GetConfig("cpu"))
			}
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	for name, want := range map[string]int{
		"RxTest/flood/size=512/gain=1.5/side=baseline": 11,
		"RxTest/flood/size=512/gain=1.5/side=variant":  11,
		"RxTest/flood/size=512/gain=0.8/side=variant":  12,
	} {
		if count[name] != want {
			t.Errorf("%s: %d lines, want %d: %v", name, count[name], want, count)
		}
	}
}

func TestCompare(t *testing.T) {
	a, b := sampleResult(), sampleResult()
	b.Cases[1].Rounds = rounds(12, 1.1)
	b.Cases[1].Rounds[0].Invalid = "x"
	b.Cases = append(b.Cases[:2], Case{Name: "new", Against: "distance=0", Metric: "mpps",
		Rounds: rounds(12, 2)})
	b.Machine.Kernel = "6.19"
	b.Judge()
	show := func() string {
		var out bytes.Buffer
		if err := Compare(&out, []*Result{a}, []*Result{b}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := show()
	for _, want := range []string{"kernel: 6.18, 6.19", "gain=1 ", "faster", "only in A",
		"only in B"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "NOT COMPARABLE") {
		t.Errorf("one machine:\n%s", text)
	}
	b.Machine.CPU = "Another CPU"
	text = show()
	if !strings.Contains(text, "NOT COMPARABLE") || !strings.Contains(text, "not comparable") ||
		!strings.Contains(text, "CPU: Test CPU, Another CPU") {
		t.Errorf("two machines:\n%s", text)
	}
	b.Experiment = "other"
	if err := Compare(&bytes.Buffer{}, []*Result{a}, []*Result{b}); err == nil {
		t.Error("nothing in common, and no error")
	}
}

func TestMissing(t *testing.T) {
	r := &Result{NotRun: []NotRun{{"a", "too small"}, {"b", "no CPU"}, {"c", "too small"}}}
	got := strings.Join(r.Missing(), "; ")
	if want := "2 cases such as a: too small; b: no CPU"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOverAndKey(t *testing.T) {
	r := sampleResult()
	i, err := r.Cases[0].Over(&r.Cases[2])
	if err != nil || i.Value < 1.8 || i.Value > 1.95 {
		t.Errorf("1.5 over 0.8: %v, %v", i, err)
	}
	c := &r.Cases[0]
	if c.Key("") != "flood" || c.Key("size") != "512" || c.Key("gain") != "1.5" ||
		c.Key("x") != "" {
		t.Errorf("keys of %s", c.Name)
	}
}
