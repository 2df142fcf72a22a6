package result

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// A Table is something an experiment found beside the ratios of its cases: rows
// of cells, as many as there are columns.
type Table struct {
	Title   string   `json:"title"`
	Note    string   `json:"note,omitempty"` // how to read it
	Columns []string `json:"columns"`
	Rows    [][]Cell `json:"rows"`
}

// A Cell is a text and, where there is one, the figure behind it.
type Cell struct {
	Text string `json:"text"`
	*stats.Interval
}

// Text is a cell without a figure.
func Text(format string, args ...any) Cell { return Cell{Text: fmt.Sprintf(format, args...)} }

// strings are the cells of all rows behind the titles of the columns.
func (t *Table) strings() [][]string {
	rows := [][]string{t.Columns}
	for _, row := range t.Rows {
		var list []string
		for _, c := range row {
			list = append(list, c.Text)
		}
		rows = append(rows, list)
	}
	return rows
}

// print writes the table for people.
func (t *Table) print(out io.Writer) error {
	fmt.Fprintln(out, "\n"+t.Title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range t.strings() {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if t.Note != "" {
		fmt.Fprintln(out, "  "+t.Note)
	}
	return nil
}

// markdown writes the table for a commit message.
func (t *Table) markdown(out io.Writer) {
	fmt.Fprintf(out, "\n%s\n\n", t.Title)
	markdownTable(out, t.strings())
	if t.Note != "" {
		fmt.Fprintln(out, "\n"+t.Note)
	}
}
