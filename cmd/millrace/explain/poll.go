package explain

import (
	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
)

// A poll holds the frames of one poll, with a Merger for each link type.
type poll struct {
	mergers [header.NumLinkTypes]*gro.Merger
	data    [][]byte // copies of the frames, used again
	frames  int
}

func newPoll(c gro.Config) (*poll, error) {
	p := new(poll)
	for link := range p.mergers {
		c.Link = header.LinkType(link)
		m, err := gro.NewMerger(c)
		if err != nil {
			return nil, err
		}
		p.mergers[link] = m
	}
	return p, nil
}

// add copies f and says what GRO does with it.
func (p *poll) add(f *capture.Frame) gro.Verdict {
	if p.frames == len(p.data) {
		p.data = append(p.data, nil)
	}
	data := append(p.data[p.frames][:0], f.Data...)
	p.data[p.frames] = data
	p.frames++
	return p.mergers[f.Link].Add(data)
}

// end ends the poll and gives what came out of it to each.
func (p *poll) end(each func(*gro.Aggregate)) {
	for _, m := range p.mergers {
		for a := range m.Flush() {
			each(a)
		}
	}
	p.frames = 0
}
