package tidy

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// layers lists the packages of the library from the bottom up. A package
// imports only packages of lines above its own; a test may also import
// packages of its own line, and those of testOnly.
var layers = [][]string{
	{"internal/check", "internal/cpu", "internal/counter"},
	{"mem", "checksum", "header"},
	{"dma", "desc", "packet"},
	{"internal/sendring"},
	{"pagepool", "xdp", "gro", "gso"},
	{"nic", "rx", "tx", "vnet"},
	{"zcrx", "xsk", "tap"},
	{"port"},
}

// testOnly are imported by tests, and may import anything.
var testOnly = []string{"internal/testenv", "internal/sim", "internal/tidy"}

// alone are useful without the rest of the library, on any system.
var alone = []string{"header", "checksum", "gro", "gso", "vnet"}

func layer(dir string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, dir) })
}

// mayImport says why a file of from must not import to, or nothing.
func mayImport(f *file, from, to string) string {
	switch {
	case slices.Contains(testOnly, to):
		if f.isTest() || slices.Contains(testOnly, from) {
			return ""
		}
		return to + " is for tests"
	case layer(to) < 0:
		return to + " has no place in the layers of internal/tidy: add it"
	case slices.Contains(testOnly, from), from == to:
		return ""
	case f.isTest() && layer(to) <= layer(from):
		return ""
	case layer(to) >= layer(from):
		return to + " is not in a layer below"
	}
	return ""
}

func TestLayers(t *testing.T) {
	for _, f := range load(t) {
		from := f.dir()
		if !f.inLibrary() {
			continue
		}
		if layer(from) < 0 && !slices.Contains(testOnly, from) {
			t.Errorf("%s:1: package %s has no place in the layers of internal/tidy: add it",
				f.path, from)
			continue
		}
		for imported, line := range f.imports {
			to, ours := strings.CutPrefix(imported, library+"/")
			if !ours {
				continue
			}
			if why := mayImport(f, from, to); why != "" {
				t.Errorf("%s:%d: %s imports %s: %s", f.path, line, from, to, why)
			}
		}
	}
}

func TestLayersBite(t *testing.T) {
	code, test := &file{path: "rx/f.go"}, &file{path: "rx/f_test.go"}
	for _, tt := range []struct {
		f        *file
		from, to string
		ok       bool
	}{
		{code, "rx", "nic", false}, {test, "rx", "nic", true}, {code, "rx", "pagepool", true},
		{code, "nic", "tx", false}, {code, "mem", "checksum", false}, {code, "gro", "rx", false},
		{test, "gro", "rx", false}, {code, "rx", "internal/sim", false},
		{test, "rx", "internal/sim", true}, {code, "rx", "zzz", false}, {test, "rx", "rx", true},
	} {
		if why := mayImport(tt.f, tt.from, tt.to); (why == "") != tt.ok {
			t.Errorf("%s imports %s: %q", tt.f.path, tt.to, why)
		}
	}
}

// TestUsefulAlone: nothing that the small packages need, directly or not,
// ties them to a device or to Linux.
func TestUsefulAlone(t *testing.T) {
	args := []string{"list", "-deps"}
	for _, dir := range alone {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = testenv.Root(), append(os.Environ(), "GOOS=darwin", "GOARCH=arm64")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		banned := []string{"dma", "nic", "rx", "tx", "pagepool", "port"}
		dir, ours := strings.CutPrefix(dep, library+"/")
		if ours && slices.Contains(banned, dir) || dep == "golang.org/x/sys/unix" {
			t.Errorf("%v need %s: they must be useful without it", alone, dep)
		}
	}
}

// thirdParty keeps what an importer of the library inherits small.
func thirdParty(f *file) (all []finding) {
	allowed := []string{library, "golang.org/x/sys", "github.com/cilium/ebpf"}
	if !f.inLibrary() {
		return nil
	}
	for imported, line := range f.imports {
		first, _, _ := strings.Cut(imported, "/")
		std := !strings.Contains(first, ".")
		if std || slices.ContainsFunc(allowed, func(m string) bool {
			return imported == m || strings.HasPrefix(imported, m+"/")
		}) {
			continue
		}
		all = append(all, found(line, "imports %s: the library needs std and %s only",
			path.Dir(imported), strings.Join(allowed[1:], ", ")))
	}
	return all
}
