package main

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/cmd/millrace/report"
	"github.com/millrace-net/millrace/nic"
)

const xdpUsage = "give each frame to the XDP program of this compiled `object` first; " +
	"of several, OBJECT:NAME (Linux, root)"

// An xdpStage lies between a wire and the device and gives each frame to an XDP
// program. What the program does not pass never arrives. nil is a stage without
// a program.
type xdpStage struct {
	program *bpf.Program
	wire    nic.Wire
	passed  uint64
	err     error  // what ended it
	end     func() // called with the error
}

// openXDP loads the program, unless object is empty. mtu is what the user asks
// for: as on a NIC, a program that takes one buffer does not go with an MTU
// that needs more. 0 is no wish: longer frames go past the program.
func openXDP(object string, mtu int) (*xdpStage, error) {
	if object == "" {
		return nil, nil
	}
	p, err := bpf.Open(object)
	if err != nil {
		return nil, fmt.Errorf("--xdp: %w", err)
	}
	if mtu > p.MaxMTU() {
		p.Close()
		return nil, fmt.Errorf("--mtu %d: frames may need several buffers, but program %s of "+
			`--xdp takes frames up to MTU %d: put it into section "xdp.frags", or lower --mtu`,
			mtu, p.Name(), p.MaxMTU())
	}
	return &xdpStage{program: p}, nil
}

func (x *xdpStage) close() {
	if x != nil {
		x.program.Close()
	}
}

// before is what to plug into the device in the place of w. end is called
// when the kernel does not run the program any more.
func (x *xdpStage) before(w nic.Wire, end func()) nic.Wire {
	if x == nil {
		return w
	}
	x.wire, x.end = w, end
	return x
}

// atOnce is how many frames the program may take in a row before the loop gets
// to see its clock.
const atOnce = 64

// Next lends the next frame that the program passes.
func (x *xdpStage) Next(now int64, f *nic.Frame) bool {
	for range atOnce {
		if x.err != nil || !x.wire.Next(now, f) {
			return false
		}
		var outcome bpf.Outcome
		if outcome, f.Data, x.err = x.program.Run(f.Link, f.Data); x.err != nil {
			x.end()
			return false
		}
		if outcome.Passes() {
			x.passed++
			return true
		}
	}
	return false
}

// report adds to r what became of the frames. What passed must have arrived.
func (x *xdpStage) report(r *report.Report) error {
	if x == nil {
		return nil
	}
	about := &report.XDP{Program: x.program.Name(), Notes: append([]string{
		"the kernel ran the program frame by frame, within the time of the device above: " +
			"that is not the speed of XDP"}, x.program.Notes()...)}
	for o, n := range x.program.Stats() {
		if n > 0 {
			about.Outcomes = append(about.Outcomes, report.Reason{
				Text: bpf.Outcome(o).String(), Packets: n})
			about.Packets += n
		}
	}
	r.XDP = about
	if x.passed != r.Packets {
		r.Balanced = false
		r.Imbalance = append(r.Imbalance, fmt.Sprintf("frames that XDP passed and that arrived: "+
			"%d, want %d", r.Packets, x.passed))
	}
	return x.err
}
