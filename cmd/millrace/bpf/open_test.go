package bpf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/millrace-net/millrace/internal/testenv"
)

// What is no object, or has nothing to run, is refused before the kernel is
// asked.
func TestOpenRefusals(t *testing.T) {
	const rewrite = "testdata/rewrite.bpf.o"
	empty := filepath.Join(t.TempDir(), "empty.o")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		object string
		want   []string
	}{
		{"testdata/none.bpf.o", []string{"testdata/none.bpf.o: no such file or directory"}},
		{"testdata/none.bpf.o:x", []string{"testdata/none.bpf.o: no such file or directory"}},
		{"testdata/rewrite.bpf.c", []string{"no BPF object", "clang -O2 -g -target bpf"}},
		{"testdata", []string{"no BPF object", "is a directory"}},
		{empty, []string{"no BPF object", "clang"}},
		{"testdata/filter.bpf.o", []string{
			`no XDP program in it, but everything in section "socket"`, `section "xdp"`}},
		{rewrite, []string{"several XDP programs: pop_vlan, reflect",
			"choose one: testdata/rewrite.bpf.o:pop_vlan"}},
		{rewrite + ":push_vlan", []string{`no XDP program "push_vlan"`, "pop_vlan, reflect"}},
	} {
		p, err := Open(tt.object)
		if err == nil {
			p.Close()
			t.Errorf("%s: no error", tt.object)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q, want %q in it", tt.object, err, part)
			}
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Detail() != "" || lines(e) != 1 {
			t.Errorf("%s: %#v, want an *Error of one line", tt.object, err)
		}
	}
	if _, err := Open("testdata/none.bpf.o"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func lines(err error) int { return 1 + strings.Count(err.Error(), "\n") }

// The bytes of an object are cut off and flipped: Open says so, or loads what
// the verifier accepts, and never crashes.
func TestDamagedObjects(t *testing.T) {
	good, err := os.ReadFile("testdata/drop_udp_port.bpf.o")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "damaged.o")
	open := func(b []byte) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(file)
		if err == nil {
			p.Close()
		} else if _, ok := errors.AsType[*Error](err); !ok || lines(err) != 1 {
			t.Errorf("%#v", err)
		}
	}
	for n := 0; n < len(good); n += 97 {
		open(good[:n])
		good[n] ^= 0xff
		open(good)
		good[n] ^= 0xff
	}
}

// A path may have a colon in it.
func TestColonInPath(t *testing.T) {
	needBPF(t)
	object, err := os.ReadFile("testdata/rewrite.bpf.o")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a:b.o")
	if err := os.WriteFile(file, object, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("%v, want several programs", err)
	}
	if p := open(t, file+":reflect"); p.Name() != "reflect" {
		t.Errorf("opened %s", p.Name())
	}
}

func TestVerifierIsHeard(t *testing.T) {
	needBPF(t)
	_, err := Open("testdata/refused.bpf.o")
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%v, want an *Error", err)
	}
	if lines(e) != 1 || !strings.Contains(e.Error(), "the verifier refuses program unchecked") {
		t.Errorf("%q, want a line that names the program", e)
	}
	said := strings.Split(strings.TrimSuffix(e.Detail(), "\n"), "\n")
	for _, part := range []string{"data[12]", "invalid access to packet", "processed "} {
		if !strings.Contains(e.Log, part) {
			t.Errorf("no %q in what the verifier said:\n%s", part, e.Log)
		}
	}
	if len(said) < 5 || !strings.HasPrefix(said[len(said)-1], "What to do: ") {
		t.Errorf("Detail does not end with what to do:\n%s", e.Detail())
	}
}

// What the kernel answers is told apart, with a way out for each.
func TestRefused(t *testing.T) {
	one := xdpProgram()
	many := xdpProgram()
	many.Flags = withFrags
	for _, tt := range []struct {
		program *ebpf.ProgramSpec
		err     error
		want    string
	}{
		{one, fmt.Errorf("map create: %w", syscall.EPERM), "CAP_NET_ADMIN"},
		{one, &testRunError{fmt.Errorf("run program: %w", syscall.EINVAL)}, "Linux 5.14"},
		{one, &testRunError{ebpf.ErrNotSupported}, "test run: not supported"},
		{many, fmt.Errorf("load program: %w", syscall.EINVAL), "Linux 5.18"},
		{one, fmt.Errorf("load program: %w", syscall.EINVAL),
			"x.o: load program: invalid argument"},
	} {
		e := refused("x.o", tt.program, tt.err)
		if !strings.Contains(e.Error(), tt.want) || e.Detail() != "" {
			t.Errorf("%v: %q, want %q in it", tt.err, e, tt.want)
		}
	}
}

// Programs that the chosen one calls are loaded with it, others are not:
// they may be refused. Pinned maps need no place to pin them.
func TestLoadsWhatIsNeeded(t *testing.T) {
	needBPF(t)
	call := asm.Instructions{ // through slot 1
		asm.LoadMapPtr(asm.R2, 0).WithReference("calls"),
		asm.Mov.Imm(asm.R3, 1),
		asm.FnTailCall.Call(),
		asm.Mov.Imm(asm.R0, int32(Aborted)),
		asm.Return(),
	}
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			"calls": {Name: "calls", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4,
				MaxEntries: 2, Contents: []ebpf.MapKV{{Key: uint32(1), Value: "called"}}},
			"pinned": {Name: "pinned", Type: ebpf.Array, KeySize: 4, ValueSize: 4,
				MaxEntries: 1, Pinning: ebpf.PinByName},
		},
		Programs: map[string]*ebpf.ProgramSpec{
			"main": xdpProgram(call...), "called": xdpProgram(verdict(Tx)...),
			"other": xdpProgram(asm.Return()), // R0 is not set
		},
	}
	p, err := load(spec, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if o, _, err := p.Run(0, make([]byte, 60)); o != Tx || err != nil {
		t.Errorf("%v, %v, want the verdict of the program called", o, err)
	}
	if _, err := load(spec, "other"); err == nil {
		t.Error("the other program is not refused: this test shows nothing")
	}
}

func xdpProgram(code ...asm.Instruction) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Type: ebpf.XDP, AttachType: ebpf.AttachXDP, Instructions: code,
		License: "Apache-2.0"}
}

func verdict(o Outcome) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, int32(o)), asm.Return()}
}

// needBPF skips the test where programs cannot be loaded: root in a container
// may not.
func needBPF(t *testing.T) {
	t.Helper()
	testenv.NeedRoot(t)
	p, err := Open("testdata/drop_udp_port.bpf.o")
	if errors.Is(err, syscall.EPERM) {
		testenv.Unavailable(t, err.Error())
	}
	if err == nil {
		p.Close()
	}
}

// open opens an object of the test data.
func open(t *testing.T, object string) *Program {
	t.Helper()
	needBPF(t)
	p, err := Open(object)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			t.Log(e.Detail())
		}
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
