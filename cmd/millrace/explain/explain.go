package explain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/gro"
)

// pollFrames is how many frames a poll takes (NAPI_POLL_WEIGHT).
const pollFrames = 64

// Options says what to explain and how. The zero value explains each frame of
// the file, as a table.
type Options struct {
	JSON         bool // a line of JSON each, else a table
	GRO          bool // what comes out of GRO, else each frame
	FixChecksums bool // compute them again first
	Frames       Range
	Merge        gro.Config   // Link is filled in
	XDP          *bpf.Program // sees each frame first; nil: none
}

// A Range is a run of frame numbers, both ends included. The zero value is all
// frames, cut into polls of 64; else the frames are one poll.
type Range struct{ First, Last int }

// ParseRange reads A-B, or A for one frame.
func ParseRange(s string) (Range, error) {
	first, last, two := strings.Cut(s, "-")
	if !two {
		last = first
	}
	a, errA := strconv.Atoi(first)
	b, errB := strconv.Atoi(last)
	if errA != nil || errB != nil || a < 1 || b < a {
		return Range{}, fmt.Errorf("--frames %s: want A-B with 1 <= A <= B", s)
	}
	return Range{a, b}, nil
}

// Explain writes about the frames of r to out. What was read before a damaged
// frame is written, too; the error then says which frame that is.
func Explain(r *capture.Reader, out io.Writer, o Options) error {
	w := bufio.NewWriter(out) // keeps the first error for Flush
	p, err := newPoll(o.Merge)
	if err != nil {
		return err
	}
	print := newPrinter(w, o)
	err = read(r, o.Frames, func(f *capture.Frame) error {
		if o.FixChecksums {
			gro.FixChecksums(f.Link, f.Data)
		}
		l := frameLine{Frame: f.Number, CapLen: len(f.Data)}
		passed, err := l.runXDP(o.XDP, f)
		if err != nil {
			return err
		}
		if passed {
			v := p.add(f)
			l.GRO, l.Reason = v.Action.String(), v.Reason.String()
		}
		print.frame(f, l)
		if o.Frames == (Range{}) && p.frames == pollFrames {
			p.end(print.packet)
		}
		return nil
	})
	p.end(print.packet)
	return errors.Join(err, w.Flush())
}

// read gives the frames of the range to each, until there is an error.
func read(r *capture.Reader, frames Range, each func(*capture.Frame) error) error {
	var f capture.Frame
	for {
		err := r.Next(&f)
		if errors.Is(err, io.EOF) {
			if f.Number < frames.First {
				return fmt.Errorf("no frame %d: the last one of the file is %d",
					frames.First, f.Number)
			}
			return nil
		}
		if err != nil || frames.Last != 0 && f.Number > frames.Last {
			return err
		}
		if f.Number < frames.First {
			continue
		}
		if err := each(&f); err != nil {
			return err
		}
	}
}
