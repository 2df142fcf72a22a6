package lab

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// A progress is a line on a terminal that is drawn over again; elsewhere it is
// nothing.
type progress struct {
	w       io.Writer // nil: nobody looks
	name    string
	done    int
	all     int
	started time.Time
	shown   time.Time
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{w: w}
}

func (p *progress) begin(name string, measurements int) {
	p.name, p.all, p.done, p.started = name, measurements, 0, time.Now()
}

// step counts a measurement. It runs between measurements, and draws rarely.
func (p *progress) step() {
	p.done++
	if p.w == nil || time.Since(p.shown) < time.Second/4 {
		return
	}
	p.shown = time.Now()
	spent := time.Since(p.started)
	left := time.Duration(float64(spent) / float64(p.done) * float64(max(0, p.all-p.done)))
	fmt.Fprintf(p.w, "\r\x1b[K%s: measurement %d of %d, %.0f s, about %.0f s left",
		p.name, p.done, p.all, spent.Seconds(), left.Seconds())
}

// end takes the line away.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
