package result

import (
	"math"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// A Case is one variant against its baseline.
type Case struct {
	Name       string          `json:"name"`    // keys and values, joined by slashes
	Against    string          `json:"against"` // the baseline
	Metric     string          `json:"metric"`  // the rate whose ratio decides
	Baseline   Values          `json:"baseline"`
	Variant    Values          `json:"variant"`
	Ratio      *stats.Interval `json:"ratio"`   // variant/baseline; null without enough rounds
	P          *float64        `json:"p_value"` // Mann-Whitney, two-sided
	Verdict    stats.Verdict   `json:"verdict"`
	Reason     string          `json:"verdict_reason,omitempty"` // why it is invalid
	Detectable float64         `json:"detectable_change"`        // of the ratio, 4 times in 5
	Invalid    int             `json:"rounds_invalid"`
	Rounds     []Round         `json:"rounds"`
}

// A Round is one pair of measurements.
type Round struct {
	Number   int    `json:"round"`
	Baseline Values `json:"baseline"`
	Variant  Values `json:"variant"`
	Clock    uint64 `json:"clock_ticks"`       // of a fixed piece of work: a slow clock needs more
	Invalid  string `json:"invalid,omitempty"` // what disturbed it
}

// judge computes medians, ratio, p and verdict from the rounds that nothing
// disturbed.
func (c *Case) judge(threshold float64) {
	shown := c.good()
	c.Invalid = len(c.Rounds) - len(shown)
	if len(shown) == 0 {
		shown = c.Rounds // with a verdict of "invalid" beside them
	}
	c.Baseline, c.Variant = Values{}, Values{}
	for _, side := range []struct {
		to   Values
		pick func(*Round) Values
	}{{c.Baseline, baselineOf}, {c.Variant, variantOf}} {
		for name := range side.pick(&c.Rounds[0]) {
			side.to[name] = stats.Median(column(shown, name, side.pick))
		}
	}
	c.Ratio, c.P, c.Reason, c.Detectable = nil, nil, "", 0
	base, variant := c.column(baselineOf), c.column(variantOf)
	ratio, err := stats.Paired(base, variant)
	if err != nil {
		c.Verdict, c.Reason = stats.Invalid, err.Error()
		return
	}
	p := stats.P(base, variant)
	c.Ratio, c.P = &ratio, &p
	c.Verdict = stats.Judge(ratio, p, threshold)
	c.Detectable = stats.Detectable(ratio, threshold)
}

// Clocks are the ticks of the fixed piece of work, in each valid round: what is
// divided by them can be set beside rounds of another group, when the clock may
// have been another one.
func (c *Case) Clocks() (list []float64) {
	for _, r := range c.good() {
		list = append(list, float64(r.Clock))
	}
	return list
}

// good are the rounds that nothing disturbed.
func (c *Case) good() (list []Round) {
	for _, r := range c.Rounds {
		if r.Invalid == "" {
			list = append(list, r)
		}
	}
	return list
}

func baselineOf(r *Round) Values { return r.Baseline }
func variantOf(r *Round) Values  { return r.Variant }

func (c *Case) column(pick func(*Round) Values) []float64 {
	return column(c.good(), c.Metric, pick)
}

func column(rounds []Round, metric string, pick func(*Round) Values) []float64 {
	list := make([]float64, len(rounds))
	for i := range rounds {
		list[i] = pick(&rounds[i])[metric]
	}
	return list
}

// Over is the ratio of the variants of two cases that were measured in the
// same rounds.
func (c *Case) Over(other *Case) (stats.Interval, error) {
	var a, b []float64
	for i := range min(len(c.Rounds), len(other.Rounds)) {
		x, y := &other.Rounds[i], &c.Rounds[i]
		if x.Invalid == "" && y.Invalid == "" {
			a, b = append(a, x.Variant[c.Metric]), append(b, y.Variant[c.Metric])
		}
	}
	return stats.Paired(a, b)
}

// Columns are the values of a metric in the valid rounds, in their order.
func (c *Case) Columns(metric string) (baseline, variant []float64) {
	good := c.good()
	return column(good, metric, baselineOf), column(good, metric, variantOf)
}

// Key is the value of a key in the case's name: "4" of distance in
// "flood/distance=4". The first part of a name has the key "".
func (c *Case) Key(key string) string {
	for i, part := range strings.Split(c.Name, "/") {
		k, v, ok := strings.Cut(part, "=")
		if ok && k == key {
			return v
		}
		if !ok && i == 0 && key == "" {
			return part
		}
	}
	return ""
}

// Improvement is how much less time a packet takes, as a part: 0.25 where the
// rate rose by a third.
func Improvement(rate float64) float64 {
	if rate == 0 {
		return math.NaN()
	}
	return 1 - 1/rate
}
