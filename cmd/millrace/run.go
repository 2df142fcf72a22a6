package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// runOptions are the flags of run.
type runOptions struct {
	from, to string
	set      []string
	duration time.Duration
	count    uint64
	mtu      int
	queues   int
	stats    string
	counters bool
	seed     uint64
	vxlan    []uint
	xdp      string
	iommu    string
}

// What the flags leave open.
const (
	generatedFor = 5 * time.Second
	generatedMTU = 1500
	captureMTU   = 9000 // captures hold what other interfaces took
)

func runCommand() *cobra.Command {
	o := new(runOptions)
	c := &cobra.Command{
		Use:   "run",
		Short: "Move packets through receive and transmit queues and report",
		Long: "Run moves frames from a source through the software NIC, its receive queues and\n" +
			"GRO to a sink, which may be its transmit queues, and reports what became of\n" +
			"them. Without flags: generated TCP for 5 seconds.",
		Example: "  millrace run\n" +
			"  millrace run --from gen:udp,size=512,flows=64 --queues 2 --duration 10s\n" +
			"  millrace run --from pcap:in.pcap --to pcapng:merged.pcapng --stats json\n" +
			"  millrace run --from gen:tcp --mtu 9000 --set lro=on --set rx=512 --counters\n" +
			"  millrace run --from gen:tcp,size=100 --to nic: --set tx-copybreak=auto\n" +
			"  millrace run --from pcap:in.pcap --xdp prog.bpf.o --to pcapng:passed.pcapng",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(o, c.OutOrStdout()) },
	}
	f := c.Flags()
	f.StringVar(&o.from, "from", "gen:tcp", "where frames come from: "+fromKinds)
	f.StringVar(&o.to, "to", "null", "where packets go: "+toKinds)
	f.StringArrayVar(&o.set, "set", nil, "`name=value`, repeatable; names as in ethtool: "+
		settingNames())
	f.DurationVar(&o.duration, "duration", 0, "stop after this time (0: generated "+
		"traffic without --count 5s, else at the end)")
	f.Uint64Var(&o.count, "count", 0, "stop after so many frames (0: no limit)")
	f.IntVar(&o.mtu, "mtu", 0, "longest packet in bytes (0: 1500, from captures 9000)")
	f.IntVar(&o.queues, "queues", 1, "receive queues")
	f.StringVar(&o.stats, "stats", "table", "form of the report: table or json")
	f.BoolVar(&o.counters, "counters", false, "report all counters by ethtool's names")
	f.Uint64Var(&o.seed, "seed", 1, "of generated traffic")
	f.UintSliceVar(&o.vxlan, "vxlan", nil, "UDP `port`s that carry VXLAN (generated: 4789)")
	f.StringVar(&o.xdp, "xdp", "", xdpUsage)
	f.StringVar(&o.iommu, "iommu", "passthrough", "between device and memory: "+iommuModes())
	return c
}

// complete fills what was left open and checks the rest.
func (o *runOptions) complete() error {
	generated := strings.HasPrefix(o.from, "gen:")
	if o.mtu == 0 {
		o.mtu = captureMTU
		if generated {
			o.mtu = generatedMTU
		}
	}
	if generated && o.duration == 0 && o.count == 0 {
		o.duration = generatedFor
	}
	switch {
	case o.stats != "table" && o.stats != "json":
		return fmt.Errorf("--stats %s: want table or json", o.stats)
	case o.duration < 0:
		return fmt.Errorf("--duration %v: want 0 or more", o.duration)
	case o.queues < 1:
		return fmt.Errorf("--queues %d: want at least 1", o.queues)
	}
	return nil
}

// sets tells whether --set says something about name.
func (o *runOptions) sets(name string) bool {
	return slices.ContainsFunc(o.set, func(pair string) bool {
		return strings.HasPrefix(pair, name+"=")
	})
}

// run moves the frames and reports.
func run(o *runOptions, out io.Writer) error {
	x, err := openXDP(o.xdp, o.mtu)
	if err != nil {
		return err
	}
	defer x.close()
	if err := o.complete(); err != nil {
		return err
	}
	s := &session{o: o, out: out, xdp: x}
	if err := s.open(); err != nil {
		return err
	}
	began := time.Now()
	err = s.move(s.to.handle)
	return s.finish(time.Since(began), err)
}
