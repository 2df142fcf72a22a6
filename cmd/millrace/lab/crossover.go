package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// A crossover is the size up to which a way costs less than its baseline: 0
// where it costs more already for the smallest, the largest where it never does.
type crossover struct {
	stats.Interval
	largest float64 // size that was measured, in bytes
}

func (c crossover) String() string {
	switch {
	case c.High == 0:
		return "no size"
	case c.Low == c.largest:
		return fmt.Sprintf("all, to %.0f B", c.largest)
	}
	return fmt.Sprintf("%.0f B [%.0f, %.0f]", c.Value, c.Low, c.High)
}

// crossoverOf finds the crossover of cases whose names differ in the key size
// alone. Sizes are measured one after the other, so the n-th valid round of one
// is set beside the n-th valid round of the next, and each round has its own
// crossover.
func crossoverOf(cases []*result.Case, metric string) (x crossover, err error) {
	var sizes []float64
	var rounds [][]float64 // by size: what the way costs more than its baseline
	for _, c := range cases {
		size, err := strconv.ParseFloat(c.Key("size"), 64)
		if err != nil {
			return x, fmt.Errorf("%s: no number behind size", c.Name)
		}
		base, variant := c.Columns(metric)
		for k := range variant {
			variant[k] -= base[k]
		}
		sizes, rounds = append(sizes, size), append(rounds, variant)
	}
	if len(sizes) < 2 {
		return x, fmt.Errorf("%d sizes, a crossover needs two", len(sizes))
	}
	each := make([]float64, len(slices.MinFunc(rounds, func(a, b []float64) int {
		return cmp.Compare(len(a), len(b))
	})))
	for k := range each {
		costs := make([]float64, len(sizes))
		for i := range costs {
			costs[i] = rounds[i][k]
		}
		each[k] = crossing(sizes, costs)
	}
	x.largest = sizes[len(sizes)-1]
	x.Interval, err = stats.Centre(each)
	return x, err
}

// crossing is where the line through the points first comes from below 0 to 0
// or more. Sizes ascend.
func crossing(sizes, costs []float64) float64 {
	for i, y := range costs {
		switch {
		case y < 0:
		case i == 0:
			return 0
		default:
			x0, y0 := sizes[i-1], costs[i-1]
			return x0 + (sizes[i]-x0)*y0/(y0-y)
		}
	}
	return sizes[len(sizes)-1]
}
