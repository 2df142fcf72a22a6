package report

import (
	"fmt"
	"io"
	"time"

	"github.com/millrace-net/millrace/port"
)

// Live shows a run while it lasts: on a terminal a few lines that are drawn
// over again, elsewhere a line each time.
type Live struct {
	w        io.Writer
	terminal bool
	drawn    int // lines on the terminal
	last     port.Stats
	at       time.Duration // of last
}

// NewLive makes a display on w.
func NewLive(w io.Writer, terminal bool) *Live { return &Live{w: w, terminal: terminal} }

// Show displays what happened since the last call; elapsed is the time since
// the run began.
func (l *Live) Show(elapsed time.Duration, s port.Stats) {
	since := l.since(&s)
	r := New(Run{Duration: elapsed - l.at}, &since, true)
	dropped := total(drops(&s))
	l.last, l.at = s, elapsed
	if !l.terminal {
		fmt.Fprintf(l.w, "%6.1f s  %s  %.2f frames a packet  %d dropped\n",
			elapsed.Seconds(), r.Rates, r.GRO.Ratio, dropped)
		return
	}
	l.Clear()
	l.line("elapsed     %.1f s", elapsed.Seconds())
	l.line("received    %s", r.Rates)
	l.line("gro         %.2f frames a packet", r.GRO.Ratio)
	l.line("ns a frame  %s", r.Cost)
	l.line("dropped     %d", dropped)
}

// since is what s counts more than the last time, as far as it is shown.
func (l *Live) since(s *port.Stats) (d port.Stats) {
	d.Packets, d.Segments = s.Packets-l.last.Packets, s.Segments-l.last.Segments
	d.Device.RxPacketsPhy = s.Device.RxPacketsPhy - l.last.Device.RxPacketsPhy
	d.Device.RxBytesPhy = s.Device.RxBytesPhy - l.last.Device.RxBytesPhy
	a, b := &s.Stages, &l.last.Stages
	d.Stages = port.Stages{Device: a.Device - b.Device, RX: a.RX - b.RX, GRO: a.GRO - b.GRO,
		Handler: a.Handler - b.Handler, TX: a.TX - b.TX}
	return d
}

func (l *Live) line(format string, args ...any) {
	fmt.Fprintf(l.w, format+"\n", args...)
	l.drawn++
}

// Clear takes the lines off the terminal again.
func (l *Live) Clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\x1b[%dA\x1b[J", l.drawn) // up, erase to the end
		l.drawn = 0
	}
}
