package result

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// A Result is what one experiment found.
type Result struct {
	Experiment  string          `json:"experiment"`
	Question    string          `json:"question"`
	Started     time.Time       `json:"started"`
	Seconds     float64         `json:"duration_seconds"`
	Quick       bool            `json:"quick"`
	Seed        uint64          `json:"seed"`
	Rounds      int             `json:"rounds_planned"`
	Interrupted bool            `json:"interrupted"`
	Disturbed   string          `json:"disturbed"` // by what, in how many rounds; "": by nothing
	Repeated    int             `json:"measurements_repeated"`
	Machine     machine.Machine `json:"machine"`
	Notes       []string        `json:"notes"` // what a reader must know of the set-up
	Metrics     []Metric        `json:"metrics"`
	Threshold   float64         `json:"noise_threshold"` // smallest change of a ratio called one
	Calibration *Case           `json:"calibration"`     // the baseline against itself
	Cases       []Case          `json:"cases"`
	NotRun      []NotRun        `json:"not_run,omitempty"`
	Findings    []Table         `json:"findings,omitempty"`
	Claims      []Claim         `json:"claims"`
}

// A Metric is a quantity that every measurement gives.
type Metric struct {
	Name   string `json:"name"` // with its unit
	Label  string `json:"label"`
	Digits int    `json:"digits"` // behind the decimal point, in tables
}

// Values are what one measurement found, or medians of several, by metric.
type Values map[string]float64

// A NotRun is a case that this machine cannot run.
type NotRun struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// A Claim is what the public work says, and whether it holds here.
type Claim struct {
	Text   string `json:"text"`
	Thread string `json:"thread"` // figure of the public thread
	Wanted string `json:"wanted"`
	Here   string `json:"here"`
	Holds  Holds  `json:"holds"`
}

// Holds is the outcome of a claim.
type Holds string

const (
	Yes         Holds = "yes"
	No          Holds = "no"
	NotMeasured Holds = "not measured"
)

// Judge decides on every case. The comparison of the baseline with itself sets
// the noise threshold.
func (r *Result) Judge() {
	r.Threshold = stats.MinThreshold
	if c := r.Calibration; c != nil {
		c.judge(stats.MinThreshold)
		if c.Ratio != nil {
			r.Threshold = stats.Threshold(*c.Ratio)
		}
	}
	kinds := map[string]int{}
	for i := range r.Cases {
		r.Cases[i].judge(r.Threshold)
		for _, round := range r.Cases[i].Rounds {
			if kind, _, _ := strings.Cut(round.Invalid, ":"); kind != "" {
				kinds[kind]++
			}
		}
	}
	r.Disturbed = disturbed(kinds, r.measurements())
}

func (r *Result) measurements() (n int) {
	for i := range r.Cases {
		n += len(r.Cases[i].Rounds)
	}
	return n
}

// disturbed names what made rounds invalid, the most frequent first.
func disturbed(kinds map[string]int, of int) string {
	var list []string
	for kind := range kinds {
		list = append(list, kind)
	}
	slices.SortFunc(list, func(a, b string) int {
		if d := kinds[b] - kinds[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, kind := range list {
		list[i] = fmt.Sprintf("%s in %d of %d rounds", kind, kinds[kind], of)
	}
	return strings.Join(list, ", ")
}

// Find is the case with this name, nil if it was not measured.
func (r *Result) Find(name string) *Case {
	for i := range r.Cases {
		if r.Cases[i].Name == name {
			return &r.Cases[i]
		}
	}
	return nil
}

// Missing says which cases were not run, those with the same reason together.
func (r *Result) Missing() (lines []string) {
	count := map[string]int{}
	for _, n := range r.NotRun {
		count[n.Reason]++
	}
	for _, n := range r.NotRun {
		switch k := count[n.Reason]; k {
		case 0:
		case 1:
			lines = append(lines, n.Name+": "+n.Reason)
		default:
			lines = append(lines, fmt.Sprintf("%d cases such as %s: %s", k, n.Name, n.Reason))
		}
		count[n.Reason] = 0
	}
	return lines
}

// JSON writes the result as one object on one line.
func (r *Result) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Read reads the results of a file that JSON wrote, an object each.
func Read(from io.Reader) (list []*Result, err error) {
	for d := json.NewDecoder(from); ; {
		r := new(Result)
		if err := d.Decode(r); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("no result of the lab: %w", err)
		}
		if r.Experiment == "" || r.Machine.CPU == "" {
			return nil, fmt.Errorf("no result of the lab: it has no experiment or no machine")
		}
		list = append(list, r)
	}
	if list == nil {
		return nil, fmt.Errorf("no result of the lab: it is empty")
	}
	return list, nil
}
