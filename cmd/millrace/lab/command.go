package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// Command is `millrace lab`.
func Command() *cobra.Command {
	o := &options{out: newOutput()}
	c := &cobra.Command{
		Use:   "lab NAME...",
		Short: "Measure steps of the data path, before against after",
		Long: "Lab runs experiments on this machine: each variant of a step against its\n" +
			"baseline, round by round in alternating order, with an interval for the ratio,\n" +
			"a test, and a verdict. It says beside each figure of the public work whether it\n" +
			"holds here.",
		Example: "  millrace lab list\n" +
			"  millrace lab rx-prefetch --quick\n" +
			"  millrace lab rx-headlen --json=after.json --html report.html\n" +
			"  millrace lab compare before.json after.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			list, err := choose(names)
			if err != nil {
				return err
			}
			return interruptible(c, func(ctx context.Context) error {
				return o.run(ctx, list, c.OutOrStdout(), c.ErrOrStderr())
			})
		},
	}
	o.flags(c.Flags())
	o.out.flags(c.Flags())
	c.AddCommand(listCommand(), allCommand(), selftestCommand(), compareCommand())
	return c
}

func (o *options) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.quick, "quick", false, "the cases that carry the claims, not the whole matrix")
	f.IntVar(&o.rounds, "rounds", 0, "rounds, each with every variant once (0: as many as the "+
		"experiment needs)")
	f.IntVar(&o.cpu, "cpu", -1, "pin the driver to CPU `N` (-1: the last one)")
	f.Uint64Var(&o.seed, "seed", 1, "of traffic and page order")
}

// interruptible runs f with a context that ends with the first interrupt. The
// second one ends the program.
func interruptible(c *cobra.Command, f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	return f(ctx)
}

func allCommand() *cobra.Command {
	o := &options{out: newOutput()}
	c := &cobra.Command{
		Use: "all", Short: "Run every experiment", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return interruptible(c, func(ctx context.Context) error {
				return o.run(ctx, experiments, c.OutOrStdout(), c.ErrOrStderr())
			})
		},
	}
	o.flags(c.Flags())
	o.out.flags(c.Flags())
	return c
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Name the experiments", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return list(c.OutOrStdout()) },
	}
}

func list(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range experiments {
		fmt.Fprintf(w, "%s\t%s\n", e.Name, e.Question)
	}
	return w.Flush()
}

func selftestCommand() *cobra.Command {
	o := new(options)
	c := &cobra.Command{
		Use: "selftest [NAME]", Short: "Run an experiment against itself ten times",
		Long: "Selftest compares the baseline of an experiment (rx-prefetch) with itself ten\n" +
			"times. A lab that can be trusted claims a difference once at most.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			list, err := choose(append(names, rxPrefetch.Name)[:1])
			if err != nil {
				return err
			}
			return interruptible(c, func(ctx context.Context) error {
				return o.selftest(ctx, list[0], c.OutOrStdout(), c.ErrOrStderr())
			})
		},
	}
	o.flags(c.Flags())
	return c
}

func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compare A.json B.json", Short: "Put two result files side by side",
		Long: "Compare shows two files that --json wrote side by side, and what differs in the\n" +
			"environment. Figures of two machines are not compared.",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, names []string) error {
			a, err := read(names[0])
			if err != nil {
				return err
			}
			b, err := read(names[1])
			if err != nil {
				return err
			}
			return result.Compare(c.OutOrStdout(), a, b)
		},
	}
}

// read reads a file of results.
func read(name string) ([]*result.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := result.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}
