package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
)

// MinRounds is the smallest number of rounds that has a 95 % interval.
const MinRounds = 6

// Alpha is the p-value below which two series may be called different.
const Alpha = 0.05

// An Interval is a ratio and the interval that holds the true one with a
// confidence of 95 % or a little more.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"ci95_low"`
	High  float64 `json:"ci95_high"`
}

// Paired is the median of the ratios variant/baseline, round by round.
func Paired(baseline, variant []float64) (Interval, error) {
	if len(baseline) != len(variant) {
		return Interval{}, fmt.Errorf("stats: %d and %d rounds are no pairs",
			len(baseline), len(variant))
	}
	if err := enough(baseline, variant); err != nil {
		return Interval{}, err
	}
	ratios := make([]float64, len(baseline))
	for i := range ratios {
		ratios[i] = variant[i] / baseline[i]
	}
	return Centre(ratios)
}

// Centre is the median of values and its interval. Only their order counts, so
// values beyond what was measured may stand as its ends.
func Centre(values []float64) (Interval, error) {
	if len(values) < MinRounds {
		return Interval{}, fmt.Errorf("%d valid rounds, an interval needs %d",
			len(values), MinRounds)
	}
	s := benchmath.AssumeNothing.Summary(sample(values), 0.95)
	return Interval{s.Center, s.Lo, s.Hi}, nil
}

// resamples of a bootstrap.
const resamples = 2000

// Separate is the ratio of the medians b/a of runs that are no pairs, with the
// percentile interval of a bootstrap.
func Separate(a, b []float64) (Interval, error) {
	if err := enough(a, b); err != nil {
		return Interval{}, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(from, to []float64) float64 {
		for i := range to {
			to[i] = from[rng.IntN(len(from))]
		}
		return median(to)
	}
	x, y := make([]float64, len(a)), make([]float64, len(b))
	ratios := make([]float64, resamples)
	for i := range ratios {
		ratios[i] = draw(b, y) / draw(a, x)
	}
	slices.Sort(ratios)
	return Interval{
		Value: Median(b) / Median(a),
		Low:   ratios[resamples/40], High: ratios[resamples-1-resamples/40],
	}, nil
}

// enough refuses series that are too short or hold what is no measurement.
func enough(series ...[]float64) error {
	for _, list := range series {
		if len(list) < MinRounds {
			return fmt.Errorf("%d valid rounds, an interval needs %d", len(list), MinRounds)
		}
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
				return fmt.Errorf("a measurement of %v has no ratio", v)
			}
		}
	}
	return nil
}

// P is the two-sided p-value of Mann and Whitney's test: how likely ranks as
// far apart as these are if both series come from one distribution.
func P(a, b []float64) float64 {
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// Median is the median of values; 0 if there are none.
func Median(values []float64) float64 { return median(slices.Clone(values)) }

// median sorts values.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
