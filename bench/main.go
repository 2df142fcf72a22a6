package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 61, "every round measures every row once")
	only := flag.String("only", "", "only rows whose work contains this text")
	flag.Parse()
	runtime.LockOSThread()
	peer, hint := startDPDK()
	defer peer.stop()
	contests := slices.DeleteFunc(all(), func(c *contest) bool {
		return !strings.Contains(c.work, *only)
	})
	for _, c := range contests {
		c.warmUp(peer)
	}
	for range max(1, *rounds) {
		for _, c := range contests {
			c.round(peer)
		}
	}
	fmt.Printf("%s, %s %s/%s, medians of %d rounds\n\n", cpuModel(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH, max(1, *rounds))
	report(os.Stdout, contests)
	if hint != "" {
		fmt.Println("\n" + hint)
	}
}

func all() []*contest { return slices.Concat(lengths(), sums(), merges(), cuts()) }

// cpuModel names the processor as Linux does.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return fmt.Sprintf("%s, %d CPUs", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return "unknown CPU"
}
