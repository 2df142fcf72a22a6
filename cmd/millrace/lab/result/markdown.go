package result

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes tables that fit a commit message: aligned, so that they read
// as plain text too.
func (r *Result) Markdown(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s\n\n", r.Experiment, r.Question)
	rows := [][]string{r.header()}
	for i := range r.Cases {
		rows = append(rows, r.row(&r.Cases[i]))
	}
	markdownTable(w, rows)
	for i := range r.Findings {
		r.Findings[i].markdown(w)
	}
	if len(r.Claims) > 0 {
		rows := [][]string{{"claim", "thread", "wanted", "here", "holds"}}
		for _, c := range r.Claims {
			rows = append(rows, []string{c.Text, c.Thread, c.Wanted, c.Here, string(c.Holds)})
		}
		fmt.Fprintln(w)
		markdownTable(w, rows)
	}
	fmt.Fprintln(w)
	for _, lines := range [][]string{r.state(), r.Machine.Lines(), r.Notes} {
		for _, line := range lines {
			fmt.Fprintln(w, "- "+line)
		}
	}
	for _, line := range r.Missing() {
		fmt.Fprintln(w, "- not run: "+line)
	}
	return w.Flush()
}

// markdownTable writes rows, the first of which are the titles, padded.
func markdownTable(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for k, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", width[i], cell)
		}
		fmt.Fprintln(w, "|")
		if k > 0 {
			continue
		}
		for i := range row {
			fmt.Fprint(w, "|"+strings.Repeat("-", width[i]+2))
		}
		fmt.Fprintln(w, "|")
	}
}
