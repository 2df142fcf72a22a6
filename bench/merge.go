package main

import (
	"fmt"

	"github.com/millrace-net/millrace/gro"
)

// merges: GRO of bursts of segments whose flows take turns.
func merges() (all []*contest) {
	for _, b := range []struct{ flows, n int }{{1, 32}, {8, 128}, {32, 128}} {
		all = append(all, &contest{
			fmt.Sprintf("GRO, %d x %d of 1448 bytes", b.flows, b.n), "packet", []*entry{
				packets(b.flows, b.n),
				merger("millrace gro.Merger, slices", "known", b.flows, b.n, true),
				merger("millrace gro.Merger, slices", "verifies", b.flows, b.n, false),
				newGVisor(b.flows, b.n).entry("gVisor stack/gro, wrapped before", "known"),
				newGVisor(b.flows, b.n).entry("gVisor stack/gro, wraps slices", "known"),
				newGVisor(b.flows, b.n).entry("gVisor stack/gro, wraps slices", "verifies"),
				{who: "DPDK rte_gro_reassemble_burst", sums: "none, stale", copies: "no",
					ask: fmt.Sprintf("burst %d %d", b.flows, b.n)},
				{who: "DPDK rte_gro, context", sums: "none, stale", copies: "no",
					ask: fmt.Sprintf("ctx %d %d", b.flows, b.n)},
			}})
	}
	return all
}

// merger merges plain byte slices, which are only read.
func merger(who, sums string, flows, n int, verified bool) *entry {
	frames := burst(flows, n)
	m, err := gro.NewMerger(gro.Config{Verified: verified})
	if err != nil {
		panic(err)
	}
	run := func() (out int) {
		for _, f := range frames {
			m.Add(f)
		}
		for range m.Flush() {
			out++
		}
		return out
	}
	return &entry{who: who, sums: sums, copies: "no", units: n, run: run}
}
