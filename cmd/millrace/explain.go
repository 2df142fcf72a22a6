package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/cmd/millrace/explain"
)

func explainCommand() *cobra.Command {
	var o explain.Options
	var frames, object string
	var vxlan []uint
	c := &cobra.Command{
		Use:   "explain FILE",
		Short: "Say of each frame of a capture how long its headers are and what GRO does",
		Long: "Explain reads a capture and says of each frame where its headers lie, what GRO\n" +
			"does with it and why. Frames are fed to GRO in polls of 64; with --frames the\n" +
			"frames chosen are one poll. With --gro, the lines are about the packets that\n" +
			"come out of GRO.",
		Example: "  millrace explain in.pcap\n" +
			"  millrace explain --json in.pcapng.gz\n" +
			"  millrace explain --gro --frames 1-64 --fix-checksums in.pcap\n" +
			"  millrace explain --xdp prog.bpf.o in.pcap",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if o.Merge.VXLAN, err = vxlanPorts(vxlan); err != nil {
				return err
			}
			if frames != "" {
				if o.Frames, err = explain.ParseRange(frames); err != nil {
					return err
				}
			}
			if object == "" {
				return explainFile(args[0], c.OutOrStdout(), o)
			}
			if o.XDP, err = bpf.Open(object); err != nil {
				return fmt.Errorf("--xdp: %w", err)
			}
			defer o.XDP.Close()
			err = explainFile(args[0], c.OutOrStdout(), o)
			for _, note := range o.XDP.Notes() {
				fmt.Fprintln(c.ErrOrStderr(), "note:", note)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&o.JSON, "json", false, "a line of JSON each, instead of a table")
	f.BoolVar(&o.GRO, "gro", false, "show the packets that come out of GRO")
	f.StringVar(&frames, "frames", "", "only frames `A-B`, counted from 1, as one poll")
	f.BoolVar(&o.FixChecksums, "fix-checksums", false, "compute IPv4, TCP and UDP checksums "+
		"again first (a sending machine captures them unfinished)")
	f.IntVar(&o.Merge.Buckets, "gro-buckets", 0, "hash buckets of GRO, a power of two "+
		"(0: 256)")
	f.BoolVar(&o.Merge.UDP, "gro-udp", false, "let GRO merge UDP")
	f.UintSliceVar(&vxlan, "vxlan", nil, "UDP `port`s that carry VXLAN")
	f.StringVar(&object, "xdp", "", xdpUsage)
	return c
}

func explainFile(name string, out io.Writer, o explain.Options) error {
	r, err := capture.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return explain.Explain(r, out, o)
}
