package method

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// involuntarySwitches is how often the calling thread lost its CPU to another.
func involuntarySwitches() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Nivcsw
}

// processMs is the time that this process has used, in ms.
func processMs() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return (u.Utime.Nano() + u.Stime.Nano()) / 1e6
}

// Pin binds the calling thread, which must be locked, to CPU n; -1 chooses the
// last one it may use. It reports the CPU and a function that undoes it.
func Pin(n int) (cpuNumber int, undo func(), err error) {
	var old, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return -1, nil, fmt.Errorf("read the CPUs of the thread: %w", err)
	}
	if n < 0 {
		n = last(&old)
	}
	if !old.IsSet(n) {
		return -1, nil, fmt.Errorf("--cpu %d: this process may use CPUs up to %d; see taskset -p",
			n, last(&old))
	}
	set.Set(n)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return -1, nil, fmt.Errorf("pin the thread to CPU %d: %w", n, err)
	}
	// It worked the other way; a thread that stays pinned does no harm.
	return n, func() { _ = unix.SchedSetaffinity(0, &old) }, nil
}

// last is the highest CPU of a set.
func last(set *unix.CPUSet) (n int) {
	for i := range 8 * 8 * len(set) {
		if set.IsSet(i) {
			n = i
		}
	}
	return n
}
