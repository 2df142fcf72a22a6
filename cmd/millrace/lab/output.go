package lab

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/outfile"
)

// stdout as the name of a file.
const stdout = "-"

// A form is a way to write results, and where to.
type form struct {
	flag, usage string
	write       func(*result.Result, io.Writer) error
	to          string        // "": not wanted
	file        *outfile.File // nil: standard output
}

// An output writes results in all the forms that are wanted. Standard output
// gets the table unless another form is for it.
type output struct {
	forms   []*form
	html    string
	htmlTo  *outfile.File
	reports []page.Report
	stdout  io.Writer
}

func newOutput() *output {
	return &output{forms: []*form{
		{flag: "json", usage: "one JSON object an experiment", write: (*result.Result).JSON},
		{flag: "benchstat", usage: "the raw rounds, for benchstat -col /side",
			write: (*result.Result).Benchstat},
		{flag: "markdown", usage: "tables that fit a commit message",
			write: (*result.Result).Markdown},
	}}
}

func (o *output) flags(f *pflag.FlagSet) {
	for _, form := range o.forms {
		f.StringVar(&form.to, form.flag, "", form.usage+"; instead of the table, or to =`FILE`")
		f.Lookup(form.flag).NoOptDefVal = stdout
	}
	f.StringVar(&o.html, "html", "", "a page with pictures, in one `FILE`")
}

// open creates the files.
func (o *output) open(w io.Writer) (err error) {
	o.stdout = w
	var taken []string
	for _, form := range o.forms {
		switch form.to {
		case "":
		case stdout:
			taken = append(taken, "--"+form.flag)
		default:
			if form.file, err = outfile.Create(form.to); err != nil {
				return err
			}
		}
	}
	if len(taken) > 1 {
		return fmt.Errorf("%s: standard output takes one form; write the other to a file: %s=FILE",
			strings.Join(taken, " "), taken[1])
	}
	if o.html != "" {
		o.htmlTo, err = outfile.Create(o.html)
	}
	return err
}

// add takes the result of one experiment and shows it.
func (o *output) add(r *result.Result, pictures []page.Picture) error {
	o.reports = append(o.reports, page.Report{Result: r, Pictures: pictures})
	for _, form := range o.forms {
		if form.to == stdout {
			return form.write(r, o.stdout)
		}
	}
	return r.Table(o.stdout)
}

// commit completes the files.
func (o *output) commit() error {
	var errs []error
	for _, form := range o.forms {
		if form.file != nil {
			errs = append(errs, form.file.Commit(form.all(o.reports)))
		}
	}
	if o.htmlTo != nil {
		errs = append(errs, o.htmlTo.Commit(page.Write(o.htmlTo, o.reports)))
	}
	return errors.Join(errs...)
}

// all writes the reports to the form's file.
func (f *form) all(reports []page.Report) error {
	for _, r := range reports {
		if err := f.write(r.Result, f.file); err != nil {
			return err
		}
	}
	return nil
}

// abort leaves no file.
func (o *output) abort() {
	for _, form := range o.forms {
		if form.file != nil {
			form.file.Abort() // another error is on its way
		}
	}
	if o.htmlTo != nil {
		o.htmlTo.Abort()
	}
}
