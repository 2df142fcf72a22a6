package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/millrace-net/millrace/cmd/millrace/bpf"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/nic"
)

// needXDP skips the test where programs cannot be loaded: root in a container
// may not.
func needXDP(t *testing.T) {
	t.Helper()
	testenv.NeedRoot(t)
	x, err := openXDP("bpf/testdata/drop_udp_port.bpf.o", 0)
	if errors.Is(err, syscall.EPERM) {
		testenv.Unavailable(t, err.Error())
	}
	x.close()
}

// The scripts find the objects of package bpf in $BPF.
func TestXDPScripts(t *testing.T) {
	needXDP(t)
	objects, err := filepath.Abs("bpf/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/xdp",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("BPF", objects)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refuse": refuse, "poke": poke, "bad": bad,
		},
	})
}

// bad ARGS...: millrace ARGS exits with 2, whatever it writes.
func bad(ts *testscript.TestScript, _ bool, args []string) {
	exit, ok := errors.AsType[*exec.ExitError](ts.Exec("millrace", args...))
	if !ok || exit.ExitCode() != exitInput {
		ts.Fatalf("millrace did not exit with %d", exitInput)
	}
}

// A program that takes every frame does not keep the device from its clock,
// and a kernel that stops running it ends the wire with the error.
func TestXDPStage(t *testing.T) {
	needXDP(t)
	x, err := openXDP("bpf/testdata/rewrite.bpf.o:reflect", 0)
	if err != nil {
		t.Fatal(err)
	}
	frames := &nic.Frames{List: make([]nic.Frame, 1000)}
	for i := range frames.List {
		frames.List[i].Data = make([]byte, 60)
	}
	ended := false
	w := x.before(frames, func() { ended = true })
	if w.Next(0, new(nic.Frame)) || frames.Left() != len(frames.List)-atOnce {
		t.Errorf("%d frames left, want %d gone", frames.Left(), atOnce)
	}
	if n := x.program.Stats()[bpf.Tx]; n != atOnce || x.err != nil || ended {
		t.Errorf("%d frames sent back, want %d; %v", n, atOnce, x.err)
	}
	x.close()
	if w.Next(0, new(nic.Frame)) || x.err == nil || !ended {
		t.Errorf("a closed program: error %v, ended %v", x.err, ended)
	}
	left := frames.Left()
	if w.Next(0, new(nic.Frame)) || frames.Left() != left {
		t.Error("frames are taken behind the end")
	}
}
