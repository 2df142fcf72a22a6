package result

import (
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Benchstat writes every valid round in the format of Go benchmarks: a line a
// measurement. `benchstat -col /side FILE` puts baseline and variant side by
// side.
func (r *Result) Benchstat(w io.Writer) error {
	out := benchfmt.NewWriter(w)
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, side := range []struct {
			name string
			pick func(*Round) Values
		}{{"baseline", baselineOf}, {"variant", variantOf}} {
			for _, round := range c.good() {
				if err := out.Write(r.line(c, side.name, side.pick(&round))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *Result) line(c *Case, side string, v Values) *benchfmt.Result {
	res := &benchfmt.Result{
		Name:  benchfmt.Name(benchmarkName(r.Experiment) + "/" + c.Name + "/side=" + side),
		Iters: 1,
	}
	for _, kv := range [][2]string{{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH},
		{"cpu", r.Machine.CPU}, {"kernel", r.Machine.Kernel}, {"against", c.Against}} {
		res.Config = append(res.Config, benchfmt.Config{
			Key: kv[0], Value: []byte(kv[1]), File: true,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		res.Values = append(res.Values, benchfmt.Value{Value: v[name], Unit: unit(name)})
	}
	return res
}

// benchmarkName turns "rx-prefetch" into "RxPrefetch".
func benchmarkName(experiment string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(experiment, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// unit turns the name of a metric into a unit of benchstat, which shows ns/packet
// as seconds with a prefix.
func unit(metric string) string { return strings.ReplaceAll(metric, "_per_", "/") }
