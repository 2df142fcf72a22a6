package lab

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/mem"
)

// An Experiment asks one question.
type Experiment struct {
	Name     string
	Question string
	Rate     string // the metric whose ratio decides: more of it is better
	Rounds   int    // that show what it claims
	Metrics  []result.Metric
	Build    func(*Bench) error
	Claims   []Claim
	Findings func(*result.Result) []result.Table // may be nil
	Pictures []page.Picture
}

// A Claim is checked against the cases. Check says what was found here; it
// returns NotMeasured where a case is missing or has no ratio.
type Claim struct {
	Text, Thread, Wanted string
	Check                func(*result.Result) (here string, holds result.Holds)
}

// experiments are those of `lab list`, in its order.
var experiments = []*Experiment{&rxHeadlen, &rxPrefetch, &txSmall}

func find(name string) *Experiment {
	for _, e := range experiments {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// A Bench is an experiment set up on a machine. Build fills it.
type Bench struct {
	Quick   bool // the cases that carry the claims, not the whole matrix
	Machine *machine.Machine

	Groups []method.Group // the first one's baseline is compared with itself
	Notes  []string
	NotRun []result.NotRun

	regions []*mem.Region
}

// measurements is how often something is measured in all rounds.
func (b *Bench) measurements(rounds int) (n int) {
	for i := range b.Groups {
		n += b.Groups[i].Runs() * (rounds + 1) // one warms up
	}
	return n
}

// memory opens n regions of so many pages, for a queue each.
func (b *Bench) memory(n, pages int) ([]*mem.Region, error) {
	first := len(b.regions)
	for range n {
		if _, err := b.region(4<<10, pages); err != nil {
			return nil, fmt.Errorf("memory for %d queues: %w", n, err)
		}
	}
	return b.regions[first:], nil
}

// region opens a region.
func (b *Bench) region(pageBytes, pages int) (*mem.Region, error) {
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: pages})
	if err != nil {
		return nil, fmt.Errorf("memory of %s: %w", machine.Size(pages*pageBytes), err)
	}
	b.regions = append(b.regions, r)
	return r, nil
}

// Close gives the memory back.
func (b *Bench) Close() error {
	var errs []error
	for _, r := range b.regions {
		errs = append(errs, r.Close())
	}
	b.regions = nil
	return errors.Join(errs...)
}
