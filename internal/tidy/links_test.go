package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// deadLinks are the targets of links in a Markdown text that lies in dir and
// are not there. Addresses of other sites are not looked at.
func deadLinks(dir, text string) (dead []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target == "" || strings.Contains(target, "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, target)); err != nil {
			dead = append(dead, m[1])
		}
	}
	return dead
}

func TestLinks(t *testing.T) {
	dead := deadLinks(".", "[a](doc.go) [b](no/such.go) [c](https://x.y/z) [d](#e)")
	if len(dead) != 1 {
		t.Fatalf("finds %q in the bad example, want no/such.go", dead)
	}
	err := filepath.WalkDir(testenv.Root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".git") {
			return err
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, target := range deadLinks(filepath.Dir(path), string(text)) {
			t.Errorf("%s: %s is not there", path, target)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
