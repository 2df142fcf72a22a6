package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"millrace": main, "resident": resident})
}

// resident ARGS...: millrace ARGS, then the most memory that it had resident,
// as Linux counts it.
func resident() {
	if err := root().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitInput)
	}
	status, _ := os.ReadFile("/proc/self/status") // empty elsewhere: nothing is printed
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refuse": refuse, "truncate": truncate, "poke": poke,
		},
	})
}

// refuse TEXT ARGS...: millrace ARGS exits with 2, and TEXT is in the one line
// that it writes to standard error.
func refuse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refuse TEXT ARGS...")
	}
	exit, ok := errors.AsType[*exec.ExitError](ts.Exec("millrace", args[1:]...))
	if !ok || exit.ExitCode() != exitInput {
		ts.Fatalf("millrace did not exit with %d", exitInput)
	}
	line := ts.ReadFile("stderr")
	if strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "millrace: ") ||
		!strings.Contains(line, args[0]) {
		ts.Fatalf("standard error is %q, want one line with %q", line, args[0])
	}
}

// truncate FILE N: all but the first N bytes go.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(n)))
}

// poke FILE OFFSET HEX overwrites bytes.
func poke(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, int64(at))
	ts.Check(errors.Join(err, f.Close()))
}
