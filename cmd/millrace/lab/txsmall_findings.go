package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/tx"
)

// Cases that carry the thread's figures.
const (
	rrSmall    = "rr1c-1x1-250"
	rrLarge    = "rr1c-200x1000-250"
	rrSmallFew = "rr1c-1x1-50"
	rrLargeFew = "rr1c-200x1000-50"
)

func txName(workload string, mode dma.Mode, way string) string {
	return fmt.Sprintf("%s/iommu=%s/way=%s", workload, mode, way)
}

// txSmallFindings is the table that the thread asked for.
func txSmallFindings(r *result.Result) []result.Table {
	t := result.Table{
		Title: "What copying saves, by IOMMU mode and way",
		Note: "Gains are transactions/s of a driver core over those of mapping headers and " +
			"payload apart; mapping costs more than the way up to the crossover (floods). " +
			"Saved counts are for 1x1.",
		Columns: []string{"iommu", "way", "1x1, 250 connections", "200x1000, 250", "crossover",
			"maps saved", "invalidations saved"},
	}
	for _, mode := range txModes {
		for _, way := range txWays {
			small, large := r.Find(txName(rrSmall, mode, way)), r.Find(txName(rrLarge, mode, way))
			if small == nil && large == nil {
				continue
			}
			t.Rows = append(t.Rows, []result.Cell{
				result.Text("%s", mode), result.Text("%s", way), gainCell(small), gainCell(large),
				crossoverCell(r, mode, way), saved(small, "maps_per_packet", 2),
				saved(small, "invalidations_per_packet", 3),
			})
		}
	}
	if t.Rows == nil {
		return nil
	}
	return []result.Table{t}
}

// gainCell is the ratio of a case as a gain in percent.
func gainCell(c *result.Case) result.Cell {
	switch {
	case c == nil:
		return result.Text("not run")
	case c.Ratio == nil:
		return result.Text("%s", c.Verdict)
	}
	percent := func(ratio float64) float64 { return 100 * (ratio - 1) }
	return result.Cell{Interval: c.Ratio, Text: fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]",
		percent(c.Ratio.Value), percent(c.Ratio.Low), percent(c.Ratio.High))}
}

// saved is how much less of a count a packet takes.
func saved(c *result.Case, metric string, digits int) result.Cell {
	if c == nil {
		return result.Text("-")
	}
	return result.Text("%.*f of %.*f", digits, c.Baseline[metric]-c.Variant[metric], digits,
		c.Baseline[metric])
}

// crossoverCell is the crossover of a way; of auto, what was chosen.
func crossoverCell(r *result.Result, mode dma.Mode, way string) result.Cell {
	if way == wayAuto {
		return result.Text("chose %s", chosen(r.Find(txName(rrSmall, mode, way))))
	}
	x, err := crossoverOf(floodsOf(r, mode, way), "ns_per_packet")
	if err != nil {
		return result.Text("-")
	}
	return result.Cell{Text: x.String(), Interval: &x.Interval}
}

// floodsOf are the floods that go by a way, at its widest threshold, by size.
func floodsOf(r *result.Result, mode dma.Mode, way string) (list []*result.Case) {
	for _, size := range txSizes {
		if size <= txWidest[way] {
			if c := r.Find(flood(size, mode, way, txWidest[way]).name()); c != nil {
				list = append(list, c)
			}
		}
	}
	return list
}

// chosen says which ways and thresholds the rounds of a case had in force.
func chosen(c *result.Case) string {
	if c == nil {
		return "-"
	}
	var all []string
	for i := range c.Rounds {
		v := c.Rounds[i].Variant
		way := tx.Way(v["copybreak_way"])
		what := way.String()
		if way != tx.Mapped {
			what += fmt.Sprintf(" %.0f", v["copybreak_bytes"])
		}
		if !slices.Contains(all, what) {
			all = append(all, what)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
