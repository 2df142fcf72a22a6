package tidy

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// TestHotLeavesAreInlined builds the packages of inline.txt with the
// compiler's report of what it can inline.
func TestHotLeavesAreInlined(t *testing.T) {
	table, err := read("internal/tidy/inline.txt")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{} // directory to functions
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) > 0 {
			packages[f[0]] = append(packages[f[0]], f[1:]...)
		}
	}
	for dir, functions := range packages {
		cmd := exec.Command("go", "build", "-gcflags=-m", "./"+dir)
		cmd.Dir = testenv.Root()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go build ./%s: %v\n%s", dir, err, out)
			continue
		}
		for _, f := range functions {
			report := regexp.MustCompile(`(?m): can inline ` + regexp.QuoteMeta(f) + `$`)
			if !report.Match(out) {
				t.Errorf("internal/tidy/inline.txt: %s: %s is not inlined: make it smaller "+
					"(go build -gcflags=-m=2 ./%s tells its cost)", dir, f, dir)
			}
		}
	}
}
