package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/cmd/millrace/lab"
)

// Exit codes.
const (
	exitBooks = 1 // frames or memory are unaccounted for
	exitInput = 2 // a file, a setting or the command line is no good
)

// errBooks is what run returns when its books do not balance.
var errBooks = errors.New("the books do not balance")

// An error is one line on standard error. What the verifier said about an XDP
// program comes below it.
func main() {
	err := root().Execute()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "millrace:", oneLine(err))
	if refused, ok := errors.AsType[*bpf.Error](err); ok {
		fmt.Fprint(os.Stderr, refused.Detail())
	}
	if errors.Is(err, errBooks) {
		os.Exit(exitBooks)
	}
	os.Exit(exitInput)
}

// oneLine joins what an error says on several lines, as joined errors and
// suggestions of the command line do.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// vxlanPorts reads the ports of a --vxlan flag.
func vxlanPorts(flag []uint) (ports []uint16, err error) {
	for _, p := range flag {
		if p < 1 || p > 65535 {
			return nil, fmt.Errorf("--vxlan %d: want UDP ports, 1 to 65535", p)
		}
		ports = append(ports, uint16(p))
	}
	return ports, nil
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "millrace",
		Short: "A NIC data path in user space: run it, look into it",
		Long: "Millrace receives, coalesces and hands over packets the way Linux's mlx5e driver\n" +
			"does on a ConnectX card, in user space, on a software NIC.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.AddCommand(runCommand(), explainCommand(), lab.Command(), versionCommand())
	return c
}
