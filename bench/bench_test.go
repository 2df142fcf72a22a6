package main

import "testing"

// Every row as a benchmark, for pprof and benchstat: ns/op is a unit of the
// contest's work, its preparation apart. The table of the command, whose rows
// alternate, is the fairer comparison.
func Benchmark(b *testing.B) {
	for _, c := range all() {
		for _, e := range c.entries {
			if e.run == nil {
				continue
			}
			b.Run(c.work+"/"+e.who+"/"+e.sums, func(b *testing.B) {
				var ns float64
				for b.Loop() {
					t, _ := e.measure(nil)
					ns += t
				}
				b.ReportMetric(ns/float64(b.N), "ns/"+c.unit)
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// Everybody makes as many packets of the same input.
func TestOutputsAgree(t *testing.T) {
	for _, c := range append(merges(), cuts()...) {
		want := 0
		for i, e := range c.entries {
			if e.run == nil {
				continue
			}
			e.prepared()
			if got := e.run(); i == 0 {
				want = got
			} else if got != want {
				t.Errorf("%s: %s: %d packets out, ours %d", c.work, e.who, got, want)
			}
		}
	}
}
