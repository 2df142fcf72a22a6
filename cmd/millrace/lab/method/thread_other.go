//go:build !linux

package method

import "fmt"

func involuntarySwitches() int64 { return 0 }
func processMs() int64           { return 0 }

// Pin does nothing on this system, which has no way to bind a thread.
func Pin(n int) (cpuNumber int, undo func(), err error) {
	if n >= 0 {
		return -1, nil, fmt.Errorf("--cpu %d: threads can be pinned on Linux only", n)
	}
	return -1, func() {}, nil
}
