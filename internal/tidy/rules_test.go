package tidy

import (
	"fmt"
	"testing"
)

// A finding is a place and what to do about it.
type finding struct {
	line int
	what string
}

func found(line int, format string, args ...any) finding {
	return finding{line, fmt.Sprintf(format, args...)}
}

// A rule holds for each file by itself.
type rule struct {
	name  string
	check func(f *file) []finding

	badPath, bad string // a file that breaks the rule
}

var rules = []rule{
	{"file length", fileLength, "rx/long.go", "package rx" + repeat("\n", 401)},
	{"function length", functionLength, "rx/f.go",
		"package rx\nfunc f() {" + repeat("\n_ = 0", 61) + "\n}"},
	{"line length", lineLength, "rx/f.go", "package rx\n\n// " + repeat("x", 98)},
	{"unsafe", unsafeSeam, "rx/f.go", "package rx\nimport _ \"unsafe\""},
	{"system calls", syscallSeam, "rx/f_unsafe.go",
		"package rx\nimport _ \"golang.org/x/sys/unix\""},
	{"raw system calls", rawSyscalls, "mem/f.go", "package mem\nvar _ = unix.RawSyscall6"},
	{"linkname", linkname, "rx/f_unsafe.go", "package rx\n//go:linkname f runtime.f\nfunc f()"},
	{"names", names, "rx/f.go", "package rx\ntype pageManager struct{}"},
	{"package names", packageName, "rx/util/f.go", "package util"},
	{"unfinished work", unfinished, "rx/f.go", "package rx\n\n// " + "TO" + "DO: write it"},
	{"emoji", emoji, "rx/f.go", "package rx\n\n// done \u2705"},
	{"exit", exits, "rx/f.go", "package rx\nfunc f() { log.Fatalf(\"x\") }"},
	{"skips", skips, "rx/f_test.go", "package rx\nfunc TestF(t *testing.T) { t.Skip() }"},
	{"imports", thirdParty, "rx/f.go", "package rx\nimport _ \"github.com/x/y\""},
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range load(t) {
				for _, found := range r.check(f) {
					t.Errorf("%s:%d: %s", f.path, found.line, found.what)
				}
			}
		})
	}
}

// TestRulesBite: each rule finds its bad example.
func TestRulesBite(t *testing.T) {
	for _, r := range rules {
		f, err := parse(r.badPath, r.bad)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if len(r.check(f)) != 1 {
			t.Errorf("%s: %d findings in its bad example, want 1", r.name, len(r.check(f)))
		}
	}
}
