package bpf

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// A Program is an XDP program that the kernel has accepted.
type Program struct {
	name   string
	limit  int // bytes of the longest frame that it can be given
	frags  bool
	run    *ebpf.Program
	loaded *ebpf.Collection
	out    []byte // what a test run writes
	stats  Stats
}

// withFrags is BPF_F_XDP_HAS_FRAGS of linux/bpf.h: the program takes frames of
// several buffers.
const withFrags = 1 << 5

// Open loads an XDP program. The object is named by its file, or by FILE:NAME
// if it holds several XDP programs. An error of Open is an *Error.
func Open(object string) (*Program, error) {
	file, name := object, ""
	if colon := strings.LastIndexByte(object, ':'); colon > 0 && !exists(object) {
		file, name = object[:colon], object[colon+1:]
	}
	spec, err := read(file)
	if err != nil {
		return nil, err
	}
	if name, err = choose(spec, file, name); err != nil {
		return nil, err
	}
	p, err := load(spec, name)
	if err != nil {
		return nil, refused(file, spec.Programs[name], err)
	}
	if err := p.probe(); err != nil {
		p.Close()
		return nil, refused(file, spec.Programs[name], err)
	}
	return p, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func read(file string) (*ebpf.CollectionSpec, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &Error{File: file, Err: errors.Unwrap(err)}
	}
	defer f.Close()
	spec, err := ebpf.LoadCollectionSpecFromReader(f)
	if err != nil {
		return nil, &Error{File: file, Err: fmt.Errorf("no BPF object: %w", err),
			Hint: "compile one: clang -O2 -g -target bpf -c prog.bpf.c"}
	}
	return spec, nil
}

// choose finds the XDP program called name, or the only one there is. Programs
// for the maps of redirect (xdp/devmap, xdp/cpumap) are not run by themselves.
func choose(spec *ebpf.CollectionSpec, file, name string) (string, error) {
	var names, others []string
	for _, n := range slices.Sorted(maps.Keys(spec.Programs)) {
		p := spec.Programs[n]
		if p.Type == ebpf.XDP && p.AttachType == ebpf.AttachXDP {
			names = append(names, n)
			continue
		}
		others = append(others, fmt.Sprintf("%s in section %q", n, p.SectionName))
	}
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0 && len(others) == 0:
		return "", &Error{File: file, Err: errors.New("no program in it"),
			Hint: `put a function into section "xdp" or "xdp.frags"`}
	case len(names) == 0:
		return "", &Error{File: file,
			Err:  fmt.Errorf("no XDP program in it, but %s", strings.Join(others, ", ")),
			Hint: `put a function into section "xdp" or "xdp.frags"`}
	case name != "" && !slices.Contains(names, name):
		return "", &Error{File: file,
			Err: fmt.Errorf("no XDP program %q in it; it has %s", name, list)}
	case name != "":
		return name, nil
	case len(names) > 1:
		return "", &Error{File: file, Err: fmt.Errorf("several XDP programs: %s", list),
			Hint: fmt.Sprintf("choose one: %s:%s", file, names[0])}
	}
	return names[0], nil
}

// load creates the maps of the object and loads the program, and with it those
// that it reaches by tail calls through a map. Programs that have nothing to
// do with it may be meant for another kernel.
func load(spec *ebpf.CollectionSpec, name string) (*Program, error) {
	needed := map[string]bool{name: true}
	for _, m := range spec.Maps {
		m.Pinning = ebpf.PinNone
		for _, entry := range m.Contents {
			if program, ok := entry.Value.(string); ok {
				needed[program] = true
			}
		}
	}
	only := spec.Copy()
	maps.DeleteFunc(only.Programs, func(n string, _ *ebpf.ProgramSpec) bool {
		return !needed[n]
	})
	loaded, err := ebpf.NewCollection(only)
	if err != nil {
		return nil, err
	}
	p := &Program{name: name, run: loaded.Programs[name], loaded: loaded, limit: linearBytes(),
		out: make([]byte, (1+maxFrags)*os.Getpagesize())}
	if p.frags = spec.Programs[name].Flags&withFrags != 0; p.frags {
		p.limit += maxFrags * os.Getpagesize()
	}
	return p, nil
}

// probe tries a test run with a program that does nothing: the program of the
// user is to see frames of the user only.
func (p *Program) probe() error {
	pass, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, int32(Pass)), asm.Return()},
	})
	if err != nil {
		return err
	}
	defer pass.Close()
	if _, _, err = testRun(pass, make([]byte, minBytes), p.out); err != nil {
		return &testRunError{err}
	}
	return nil
}

// Close gives the program and its maps back to the kernel.
func (p *Program) Close() { p.loaded.Close() }
