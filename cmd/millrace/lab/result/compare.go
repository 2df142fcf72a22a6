package result

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// Compare puts the results of two files side by side, experiment by
// experiment. Figures of different machines are shown, and no difference
// between them is judged.
func Compare(out io.Writer, a, b []*Result) error {
	found := false
	for _, x := range a {
		for _, y := range b {
			if x.Experiment == y.Experiment {
				found = true
				if err := compare(out, x, y); err != nil {
					return err
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("the files have no experiment in common: %s, %s", names(a), names(b))
	}
	return nil
}

func names(list []*Result) string {
	var all []string
	for _, r := range list {
		all = append(all, r.Experiment)
	}
	return strings.Join(all, " ")
}

func compare(out io.Writer, a, b *Result) error {
	fmt.Fprintf(out, "%s: A of %s, B of %s\n", a.Experiment,
		a.Started.Format("2006-01-02 15:04"), b.Started.Format("2006-01-02 15:04"))
	lines, same := machine.Differences(&a.Machine, &b.Machine)
	lines = append(lines, setup(a, b)...)
	if len(lines) == 0 {
		fmt.Fprintln(out, "  environment: no difference")
	}
	for _, line := range lines {
		fmt.Fprintln(out, "  environment differs:", line)
	}
	if !same {
		fmt.Fprintln(out, "  NOT COMPARABLE: two machines. What differs below may be the machine; "+
			"compare the ratios of each with its own baseline")
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tmetric\tA\tB\tB/A [95 %]\tp\tverdict\tgain in A\tgain in B")
	for i := range a.Cases {
		x := &a.Cases[i]
		if y := b.Find(x.Name); y != nil {
			fmt.Fprintln(w, strings.Join(side(x, y, same, max(a.Threshold, b.Threshold)), "\t"))
		} else {
			fmt.Fprintf(w, "%s\tonly in A\n", x.Name)
		}
	}
	for i := range b.Cases {
		if name := b.Cases[i].Name; a.Find(name) == nil {
			fmt.Fprintf(w, "%s\tonly in B\n", name)
		}
	}
	return w.Flush()
}

// setup says what was asked for differently.
func setup(a, b *Result) (lines []string) {
	for _, f := range []struct {
		name string
		a, b any
	}{{"seed", a.Seed, b.Seed}, {"rounds", a.Rounds, b.Rounds},
		{"interrupted", a.Interrupted, b.Interrupted},
		{"disturbed", a.Disturbed, b.Disturbed}} {
		if f.a != f.b {
			lines = append(lines, fmt.Sprintf("%s: %v, %v", f.name, f.a, f.b))
		}
	}
	return lines
}

// side is one case of two runs: their variants, and each one's gain over its
// own baseline.
func side(x, y *Case, same bool, threshold float64) []string {
	va, vb := x.column(variantOf), y.column(variantOf)
	row := []string{x.Name, x.Metric, fmt.Sprintf("%.4g", stats.Median(va)),
		fmt.Sprintf("%.4g", stats.Median(vb))}
	ratio, err := stats.Separate(va, vb)
	switch {
	case !same:
		row = append(row, "-", "-", "not comparable")
	case err != nil:
		row = append(row, "-", "-", "invalid: "+err.Error())
	default:
		p := stats.P(va, vb)
		row = append(row, ratioText(&ratio), PText(p),
			string(stats.Judge(ratio, p, threshold)))
	}
	return append(row, gain(x), gain(y))
}

func gain(c *Case) string {
	if c.Ratio == nil {
		return string(c.Verdict)
	}
	return ratioText(c.Ratio)
}
