package bpf

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/cilium/ebpf"
)

// An Error says why the program of an object cannot be run.
type Error struct {
	File string
	Err  error
	Hint string // what to do; empty if Err says it
	Log  string // all that the verifier said; empty if it was not the verifier
}

// Error is one line. What the verifier said is in Detail, with the hint
// behind it.
func (e *Error) Error() string {
	if e.Hint == "" || e.Log != "" {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: %v (%s)", e.File, e.Err, e.Hint)
}

func (e *Error) Unwrap() error { return e.Err }

// Detail is what is to be shown below the line of Error: the whole message of
// the verifier and a line on what to do, or nothing.
func (e *Error) Detail() string {
	if e.Log == "" {
		return ""
	}
	return e.Log + "\n" + e.Hint + "\n"
}

// A testRunError comes from the test run, not from loading.
type testRunError struct{ error }

func (e *testRunError) Unwrap() error { return e.error }

// refused says what to do about an error of the kernel. A refusal by the
// verifier is EACCES as a rule, which has nothing to do with privileges;
// without those the kernel says EPERM before the verifier has said a word.
func refused(file string, p *ebpf.ProgramSpec, err error) *Error {
	e := &Error{File: file, Err: err}
	verifier, _ := errors.AsType[*ebpf.VerifierError](err)
	_, running := errors.AsType[*testRunError](err)
	switch {
	case verifier != nil && len(verifier.Log) > 0:
		e.Log = strings.Join(verifier.Log, "\n")
		which := strings.TrimSuffix(err.Error(), verifier.Error())
		e.Err = fmt.Errorf("the verifier refuses %s%w: %s", which, verifier.Cause,
			lastMessage(verifier.Log))
		e.Hint = "What to do: correct what the last lines above say and compile again."
	case errors.Is(err, syscall.EPERM):
		e.Err = fmt.Errorf("load program %s: %w", p.Name, syscall.EPERM)
		e.Hint = "needs root, or CAP_BPF and CAP_NET_ADMIN; before Linux 5.11 ulimit -l, too"
	case running:
		e.Err = fmt.Errorf("test run: %w", err)
		e.Hint = "the kernel runs XDP programs on single frames from Linux 5.14 on"
	case p.Flags&withFrags != 0 && errors.Is(err, syscall.EINVAL):
		e.Hint = "programs for several buffers (xdp.frags) need Linux 5.18"
	}
	return e
}

// lastMessage is the last line of the verifier but for its statistics.
func lastMessage(log []string) string {
	last := len(log) - 1
	if last > 0 && strings.HasPrefix(log[last], "processed ") {
		last--
	}
	return strings.TrimSpace(log[last])
}
