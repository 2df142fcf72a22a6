package main

import (
	"fmt"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/cmd/millrace/workload"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/port"
)

// A source is where frames come from.
type source struct {
	wire   nic.Wire
	replay *workload.Replay // nil: the frames are generated
	file   *capture.Reader
	vxlan  bool
}

const fromKinds = "gen:KIND,key=value,..., pcap:FILE, pcapng:FILE"

// openSource opens what --from says. A generator is given MTU and seed.
func openSource(spec string, o *runOptions) (source, error) {
	kind, rest, colon := strings.Cut(spec, ":")
	switch {
	case kind == "gen":
		return generate(rest, o)
	case (kind == "pcap" || kind == "pcapng") && colon && rest != "":
		r, err := capture.Open(rest) // either kind of file
		if err != nil {
			return source{}, err
		}
		w := workload.NewReplay(r, o.count)
		return source{wire: w, replay: w, file: r}, nil
	}
	return source{}, fmt.Errorf("--from %s: want one of %s", spec, fromKinds)
}

func generate(spec string, o *runOptions) (source, error) {
	c, err := workload.Parse(spec)
	if err != nil {
		return source{}, err
	}
	c.MTU, c.Seed = o.mtu, o.seed
	g, err := workload.NewGenerator(c, o.count)
	if err != nil {
		return source{}, err
	}
	return source{wire: g, vxlan: c.VXLAN != 0}, nil
}

// close ends the source and says why a file could not be read to its end.
func (s *source) close() error {
	if s.file == nil {
		return nil
	}
	s.file.Close() // only read from: nothing can be lost
	return s.replay.Err()
}

const toKinds = "null, pcapng:FILE, pcap:FILE, nic:, nic:pcapng:FILE, nic:pcap:FILE"

// openSink opens what --to says.
func openSink(spec string, from *source, p *port.Port) (*sink, error) {
	rest, sends := strings.CutPrefix(spec, "nic:")
	kind, name, colon := strings.Cut(rest, ":")
	format := capture.PcapNg
	switch {
	case kind == "null" && !colon && !sends:
		return &sink{}, nil
	case rest == "" && sends:
		return &sink{send: p}, nil
	case kind == "pcap" && name != "":
		format = capture.Pcap
	case kind == "pcapng" && name != "":
	default:
		return nil, fmt.Errorf("--to %s: want one of %s", spec, toKinds)
	}
	w, err := capture.Create(name, format)
	if err != nil {
		return nil, err
	}
	s := &sink{file: w, replay: from.replay}
	if sends {
		var near *nic.End
		if s.leave, near, err = newLeaving(w); err != nil {
			return nil, err
		}
		s.send = p
		p.PlugOut(near)
	}
	return s, nil
}
