package result

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// Table writes the result for people.
func (r *Result) Table(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s\n", r.Experiment, r.Question)
	for _, line := range append(r.Machine.Lines(), r.Notes...) {
		fmt.Fprintln(w, "  "+line)
	}
	for _, line := range r.state() {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintln(w)
	if err := r.cases(w); err != nil {
		return err
	}
	for i := range r.Findings {
		if err := r.Findings[i].print(w); err != nil {
			return err
		}
	}
	r.claims(w)
	for i, line := range r.Missing() {
		if i == 0 {
			fmt.Fprintln(w, "\nnot run")
		}
		fmt.Fprintln(w, "  "+line)
	}
	return w.Flush()
}

// state says how the run went: what a reader must know before the figures.
func (r *Result) state() (lines []string) {
	lines = append(lines, fmt.Sprintf("%d rounds, seed %d, %.1f s; %s",
		r.Rounds, r.Seed, r.Seconds, r.calibration()))
	if r.Interrupted {
		lines = append(lines, "INTERRUPTED: what follows is what was measured until then")
	}
	if r.Disturbed != "" {
		lines = append(lines, "DISTURBED: "+r.Disturbed+
			"; those rounds count for nothing: stop the other load, or choose another --cpu")
	}
	return lines
}

func (r *Result) calibration() string {
	c := r.Calibration
	switch {
	case c == nil:
		return "the baseline was not compared with itself"
	case c.Ratio == nil:
		return "the baseline against itself: invalid, " + c.Reason
	}
	text := fmt.Sprintf("the baseline against itself: %s, %s; smaller changes than %.1f %% "+
		"are called no difference", ratioText(c.Ratio), c.Verdict, 100*r.Threshold)
	if c.Verdict != stats.NoDifference {
		text += "; THE MACHINE IS TOO NOISY, or the lab is wrong"
	}
	return text
}

func ratioText(i *stats.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

// header are the titles of the columns.
func (r *Result) header() []string {
	list := []string{"case"}
	for _, m := range r.Metrics {
		list = append(list, m.Label)
	}
	return append(list, "ratio [95 %]", "p", "verdict", "detects")
}

// PText is a p-value in four digits; a smaller one is not called nought.
func PText(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

// row is one case in the columns of header.
func (r *Result) row(c *Case) []string {
	list := []string{c.Name}
	for _, m := range r.Metrics {
		list = append(list, fmt.Sprintf("%.*f -> %.*f", m.Digits, c.Baseline[m.Name],
			m.Digits, c.Variant[m.Name]))
	}
	if c.Ratio == nil {
		return append(list, "-", "-", string(c.Verdict)+": "+c.Reason, "-")
	}
	return append(list, ratioText(c.Ratio), PText(*c.P), string(c.Verdict),
		fmt.Sprintf("%.1f %%", 100*c.Detectable))
}

func (r *Result) cases(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(r.header(), "\t"))
	against := ""
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Against != against {
			against = c.Against
			fmt.Fprintf(w, "against %s\n", against)
		}
		fmt.Fprintln(w, strings.Join(r.row(c), "\t"))
	}
	return w.Flush()
}

func (r *Result) claims(w io.Writer) {
	for i, c := range r.Claims {
		if i == 0 {
			fmt.Fprintln(w, "\nholds here?")
		}
		fmt.Fprintf(w, "  %-12s  %s: %s (wanted: %s; thread: %s)\n", c.Holds, c.Text, c.Here,
			c.Wanted, c.Thread)
	}
}
