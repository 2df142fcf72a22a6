package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// report writes a row for each entry. The ratio says how many times as long as
// ours the peer takes.
func report(w io.Writer, contests []*contest) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tby\tns\tspread\tratio\tallocs\tout\tchecksum\tpayload")
	for _, c := range contests {
		work := c.work + ", a " + c.unit
		for _, e := range c.entries {
			fmt.Fprintf(t, "%s\t%s\t%s\n", work, e.who, e.cells(c.entries[0]))
			work = ""
		}
	}
	t.Flush()
}

func (e *entry) cells(us *entry) string {
	if len(e.ns) == 0 {
		return "-\t\t\t\t\t" + e.sums + "\t" + e.copies
	}
	ratio, allocs, out := "", "", ""
	if e != us {
		ratio = fmt.Sprintf("%.2f", e.ratio(us))
	}
	if e.run != nil {
		allocs = fmt.Sprintf("%.2g", e.allocs)
	}
	if e.out > 0 {
		out = fmt.Sprint(e.out)
	}
	return fmt.Sprintf("%.1f\t%.0f%%\t%s\t%s\t%s\t%s\t%s", median(e.ns), spread(e.ns), ratio,
		allocs, out, e.sums, e.copies)
}
