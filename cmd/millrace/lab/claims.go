package lab

import (
	"fmt"
	"slices"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

func holds(yes bool) result.Holds {
	if yes {
		return result.Yes
	}
	return result.No
}

func interval(i stats.Interval) string {
	return fmt.Sprintf("%.2fx [%.2f, %.2f]", i.Value, i.Low, i.High)
}

// ratio is that of a case, which is nil where there is none.
func ratio(r *result.Result, name string) *stats.Interval {
	if c := r.Find(name); c != nil {
		return c.Ratio
	}
	return nil
}

// atLeast checks that the rate of a case is so many times the baseline's.
func atLeast(name string, times float64) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		i := ratio(r, name)
		if i == nil {
			return "", result.NotMeasured
		}
		return interval(*i), holds(i.Value >= times)
	}
}

// above checks that the interval of a case lies above 1.
func above(name string) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		i := ratio(r, name)
		if i == nil {
			return "", result.NotMeasured
		}
		return interval(*i), holds(i.Low > 1)
	}
}

// below checks that the interval of a case lies below 1.
func below(name string) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		i := ratio(r, name)
		if i == nil {
			return "", result.NotMeasured
		}
		return interval(*i), holds(i.High < 1)
	}
}

// less checks that a packet of a case takes so much less time than one of the
// baseline, as a part, and that the interval lies above 1.
func less(name string, part float64) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		i := ratio(r, name)
		if i == nil {
			return "", result.NotMeasured
		}
		saved := result.Improvement(i.Value)
		return fmt.Sprintf("%.0f %% less, %s", 100*saved, interval(*i)),
			holds(saved >= part && i.Low > 1)
	}
}

// unchanged checks that a case is no different from the baseline.
func unchanged(name string) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		i := ratio(r, name)
		if i == nil {
			return "", result.NotMeasured
		}
		v := r.Find(name).Verdict
		return fmt.Sprintf("%s, %s", v, interval(*i)), holds(v == stats.NoDifference)
	}
}

// better checks that a case is above another of the same rounds, by more than
// noise.
func better(name, than string) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		a, b := r.Find(than), r.Find(name)
		if a == nil || b == nil {
			return "", result.NotMeasured
		}
		i, err := b.Over(a)
		if err != nil {
			return err.Error(), result.NotMeasured
		}
		return interval(i) + " of one over the other", holds(i.Low > 1+r.Threshold)
	}
}

// alike checks that the rates of cases lie within a part of each other.
func alike(part float64, names ...string) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		low, high := 0.0, 0.0
		for _, name := range names {
			c := r.Find(name)
			if c == nil || c.Ratio == nil {
				return "", result.NotMeasured
			}
			v := c.Variant[c.Metric]
			if low == 0 || v < low {
				low = v
			}
			high = max(high, v)
		}
		return fmt.Sprintf("%.1f %% apart", 100*(high/low-1)), holds(high/low-1 <= part)
	}
}

// each checks a figure of every case whose name matches. show formats the least
// and the greatest figure, and how many there are. It is for what is counted:
// what disturbs a round does not change that.
func each(match func(*result.Case) bool, show string,
	figure func(*result.Case) float64, ok func(float64) bool,
) func(*result.Result) (string, result.Holds) {
	return func(r *result.Result) (string, result.Holds) {
		var list []float64
		for i := range r.Cases {
			if c := &r.Cases[i]; match(c) {
				list = append(list, figure(c))
			}
		}
		if list == nil {
			return "", result.NotMeasured
		}
		all := !slices.ContainsFunc(list, func(v float64) bool { return !ok(v) })
		return fmt.Sprintf(show, slices.Min(list), slices.Max(list), len(list)), holds(all)
	}
}
