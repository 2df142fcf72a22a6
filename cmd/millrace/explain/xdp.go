package explain

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/cmd/millrace/capture"
)

// xdpPart is what a line gains when there is an XDP program.
type xdpPart struct {
	Outcome string `json:"xdp"`
	Len     int    `json:"xdp_len"` // of the frame that the program left
	Change  string `json:"xdp_change,omitempty"`
}

// runXDP gives f to the program. f.Data is then what the program left, and the
// rest of the line is about that. It tells whether f goes on to GRO; without a
// program every frame does.
func (l *frameLine) runXDP(p *bpf.Program, f *capture.Frame) (passed bool, err error) {
	if p == nil {
		return true, nil
	}
	outcome, after, err := p.Run(f.Link, f.Data)
	if err != nil {
		return false, fmt.Errorf("frame %d: %w", f.Number, err)
	}
	l.xdpPart = &xdpPart{outcome.String(), len(after), change(f.Data, after)}
	l.GRO, l.Reason = "none", "xdp "+outcome.String()
	f.Data = after
	return outcome.Passes(), nil
}

// change says what became of the bytes between those at the front and those at
// the end that are the same.
func change(before, after []byte) string {
	front, short := 0, min(len(before), len(after))
	for front < short && before[front] == after[front] {
		front++
	}
	back := 0
	for back < short-front && before[len(before)-1-back] == after[len(after)-1-back] {
		back++
	}
	out, in := len(before)-front-back, len(after)-front-back
	switch {
	case out == 0 && in == 0:
		return ""
	case out == 0:
		return fmt.Sprintf("bytes at %d: %d put in", front, in)
	case in == 0:
		return fmt.Sprintf("bytes at %d: %d taken out", front, out)
	case in == out:
		return fmt.Sprintf("bytes at %d: %d rewritten", front, out)
	}
	return fmt.Sprintf("bytes at %d: %d became %d", front, out, in)
}

const xdpForm = "%-12s  %7v  %-26s  "

// xdpHead is the head of the columns of xdpPart.
func xdpHead(o Options) string {
	if o.XDP == nil {
		return ""
	}
	return fmt.Sprintf(xdpForm, "xdp", "xdp_len", "xdp_change")
}

// columns are those of xdpHead in a line of the table.
func (x *xdpPart) columns() string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf(xdpForm, x.Outcome, x.Len, x.Change)
}
