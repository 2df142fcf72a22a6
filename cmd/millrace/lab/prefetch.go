package lab

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/workload"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/xdp"
)

// rxPrefetch is S2: in a linear striding queue strides are filled in order, so
// the packet a few strides ahead is known without its completion.
var rxPrefetch = Experiment{
	Name:     "rx-prefetch",
	Question: "What does it save to prefetch the packet a few strides ahead?",
	Rate:     "mpps",
	Rounds:   12,
	Metrics: []result.Metric{
		{Name: "mpps", Label: "Mpps", Digits: 2},
		{Name: "ns_per_packet", Label: "ns/packet", Digits: 1},
		{Name: "tsc_cycles_per_packet", Label: "TSC cycles/packet", Digits: 0},
		{Name: "device_ns_per_packet", Label: "device ns/packet", Digits: 0},
	},
	Build:    buildPrefetch,
	Claims:   prefetchClaims,
	Pictures: prefetchPictures,
}

// A prefetchLoad is the traffic and what is behind the queue, or in front of
// packets.
type prefetchLoad struct {
	name    string
	gen     workload.Config
	app     func() *app
	program xdp.Program
}

// A frame check sequence counts as part of a frame's size, as in testers.
const (
	udpHeaders  = 14 + 20 + 8
	fcsBytes    = 4
	vxlanTunnel = 14 + 20 + 8 + 8
)

func udpFrame(bytes int) workload.Config {
	size := bytes - fcsBytes - udpHeaders
	return workload.Config{Kind: workload.UDP, Size: size, Flows: 64, Burst: 1}
}

func intoBuffer(tunnel int) func() *app {
	return func() *app { return newServer(64<<10, tunnel) }
}

var prefetchLoads = []prefetchLoad{
	{"flood/size=512", udpFrame(512), newListener, nil},
	{"flood/size=64", udpFrame(64), newListener, nil},
	{"tcp/flows=1", workload.Config{Flows: 1, Burst: 44}, intoBuffer(0), nil},
	{"tunnel/record=512", workload.Config{VXLAN: 1, Size: 512, Flows: 1},
		intoBuffer(vxlanTunnel), nil},
	{"xdp-drop-read/size=512", udpFrame(512), newListener, dropRead},
	{"xdp-drop/size=512", udpFrame(512), newListener, dropUnread},
	{"xdp-tx/size=512", udpFrame(512), newListener, reflect},
}

// prefetchWith is what a prefetch asks for, the most first.
var prefetchWith = []struct {
	name string
	skip rx.Prefetch
}{
	{"sharedinfo", rx.Prefetch{}},
	{"meta", rx.Prefetch{SkipShared: true}},
	{"headers", rx.Prefetch{SkipShared: true, SkipMeta: true}},
}

// with leaves out the shared-info line where a program sees frames first: a
// queue does not ask for it then.
func (l *prefetchLoad) with() int {
	if l.program != nil {
		return 1
	}
	return 0
}

// A prefetchBench is the memory that all groups share.
type prefetchBench struct {
	*Bench
	memory []*mem.Region
}

func buildPrefetch(b *Bench) error {
	plain, err := (&prefetchLoad{}).setup()
	if err != nil {
		return err
	}
	program, err := (&prefetchLoad{program: dropRead}).setup()
	if err != nil {
		return err
	}
	touched := min(plain.touched(), program.touched())
	pages := max(plain.pages, program.pages)
	lanes := workingSet(b.Machine, touched, pages<<12)
	memory, err := b.memory(lanes, pages)
	if err != nil {
		return err
	}
	b.Notes = append(b.Notes, workingSetNote(b.Machine, lanes, touched),
		"page order: shuffled from the seed of the round, the same for all variants of a round",
		"a packet is a frame; the driver's time is Poll, GRO, application and Free; "+
			"injection=off: the device writes past the caches")
	p := prefetchBench{b, memory}
	return p.groups()
}

// setup is a queue with the largest ring, as a load needs it, without memory.
func (l *prefetchLoad) setup() (setup, error) {
	s := setup{wire: generate(l.gen), app: l.app, values: rates}
	s.rx.Entries, s.rx.Memory.Packets = 8192, 512
	s.rx.XDP.Program = l.program
	plan, err := s.rx.Plan()
	s.pages = plan.Pages + 256
	s.polls = plan.WQEs * plan.Strides / burst
	return s, err
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// groups fills the matrix: a group has one load, one kind of completions, and
// cache injection on or off.
func (p *prefetchBench) groups() error {
	for i := range prefetchLoads {
		for _, compress := range []bool{false, true} {
			for _, injection := range []bool{false, true} {
				g, err := p.group(&prefetchLoads[i], compress, injection)
				if err != nil {
					return err
				}
				if len(g.Variants) > 0 {
					p.Groups = append(p.Groups, g)
				}
			}
		}
	}
	return nil
}

func (p *prefetchBench) group(l *prefetchLoad, compress, injection bool) (method.Group, error) {
	base, err := l.setup()
	base.memory, base.nic.Bypass = p.memory, !injection
	if compress {
		base.rx.Offloads.Compression = desc.CompressBasic
		base.nic.On |= nic.Compress
	}
	variant := func(what string, pre rx.Prefetch) method.Variant {
		s := base
		s.rx.Prefetch = pre
		name := fmt.Sprintf("%s/%s/compress=%s/injection=%s",
			l.name, what, onOff(compress), onOff(injection))
		return method.Variant{Name: name, Measure: s.measure}
	}
	g := method.Group{Baseline: variant("distance=0", rx.Prefetch{Distance: -1})}
	own := prefetchWith[len(prefetchWith)-1].skip
	own.Own = true
	variants := []method.Variant{variant("distance=own/with=headers", own)}
	for _, distance := range []int{1, 2, 4, 6, 8, 16} {
		for _, w := range prefetchWith[l.with():] {
			pre := w.skip
			pre.Distance = distance
			what := fmt.Sprintf("distance=%d/with=%s", distance, w.name)
			variants = append(variants, variant(what, pre))
		}
	}
	for _, v := range variants {
		if !p.Quick || carriesClaim(v.Name) {
			g.Variants = append(g.Variants, v)
		}
	}
	return g, err
}

// generate is a wire of generated traffic. Its seed is that of the round.
func generate(c workload.Config) func(seed uint64) (nic.Wire, error) {
	return func(seed uint64) (nic.Wire, error) {
		c.Seed = seed
		return workload.NewGenerator(c, 0)
	}
}
