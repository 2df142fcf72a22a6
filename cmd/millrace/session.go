package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/millrace-net/millrace/cmd/millrace/report"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/port"
)

// A session is one run: open, move, finish.
type session struct {
	o     *runOptions
	out   io.Writer
	from  source
	xdp   *xdpStage // nil: no program
	port  *port.Port
	groOn bool
	to    *sink
}

// open opens the source, the port and, last, the sink: what can be refused is
// refused before there is a file.
func (s *session) open() (err error) {
	if s.from, err = openSource(s.o.from, s.o); err != nil {
		return err
	}
	if err := s.openPort(); err != nil {
		return errors.Join(err, s.from.close())
	}
	if s.to, err = openSink(s.o.to, &s.from, s.port); err != nil {
		return errors.Join(err, s.port.Close(), s.from.close())
	}
	return nil
}

// openPort configures the port. A file is to have the time of each frame, if
// nothing is said about that; compressed completions leave no room for it.
func (s *session) openPort() (err error) {
	var c port.Config
	c.Queues, c.RX.MTU = s.o.queues, s.o.mtu
	if c.GRO.VXLAN, err = vxlanPorts(s.o.vxlan); err != nil {
		return err
	}
	if s.from.vxlan {
		c.GRO.VXLAN = append(c.GRO.VXLAN, header.PortVXLAN)
	}
	c.NIC.VXLAN = c.GRO.VXLAN
	if c.DMA.Mode, err = iommuMode(s.o.iommu); err != nil {
		return err
	}
	if err := apply(&c, s.o.set); err != nil {
		return err
	}
	if s.o.to != "null" && !s.o.sets("hw-timestamp") {
		c.RX.Offloads.Timestamps = c.RX.Offloads.Compression == desc.CompressNone
	}
	s.groOn = !c.NoGRO
	s.port, err = port.Open("nic:", c)
	return err
}

// move runs the port until the source ends, the time is up, the sink cannot
// write any more, or somebody interrupts.
func (s *session) move(handle func(*packet.Batch)) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.duration)
		defer cancel()
	}
	s.port.Plug(s.xdp.before(&ending{wire: s.from.wire, port: s.port, end: stop}, stop))
	s.to.end = stop
	if s.to.leave != nil {
		s.to.leave.start(stop)
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if s.o.stats == "table" {
			s.watch(ctx)
		}
	}()
	err := s.port.Run(ctx, handle)
	stop()
	<-shown
	return err
}

// watch shows the run until ctx ends.
func (s *session) watch(ctx context.Context) {
	terminal := s.out == os.Stdout && term.IsTerminal(int(os.Stdout.Fd()))
	every := time.Second
	if terminal {
		every /= 2
	}
	live := report.NewLive(s.out, terminal)
	defer live.Clear()
	began, tick := time.Now(), time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			live.Show(time.Since(began), s.port.Stats())
		}
	}
}

// ending is a wire that tells when it is at its end, and waits where packets
// cannot leave as fast as they come. The wires of this command have a frame at
// any time until then.
type ending struct {
	wire nic.Wire
	port *port.Port
	end  func()
}

func (w *ending) Next(now int64, f *nic.Frame) bool {
	if w.port.Congested() {
		return false
	}
	if w.wire.Next(now, f) {
		return true
	}
	w.end()
	return false
}

// finish closes everything, prints the report and says what went wrong, the
// books first.
func (s *session) finish(duration time.Duration, failed error) error {
	stats := s.port.Stats()
	leak := s.port.Close()
	failed = errors.Join(failed, s.to.close(), s.from.close())
	r := report.New(report.Run{From: s.o.from, To: s.o.to, MTU: s.o.mtu, Queues: s.o.queues,
		Seed: s.o.seed, Duration: duration}, &stats, s.groOn)
	if leak != nil {
		r.Imbalance, r.Balanced = append(r.Imbalance, leak.Error()), false
	}
	failed = errors.Join(failed, s.xdp.report(r))
	if s.o.counters {
		r.Counters = report.AllCounters(&stats)
	}
	show := r.Table
	if s.o.stats == "json" {
		show = r.JSON
	}
	failed = errors.Join(failed, show(s.out))
	if !r.Balanced {
		return errors.Join(fmt.Errorf("%w: %s", errBooks, strings.Join(r.Imbalance, ", ")), failed)
	}
	return failed
}
