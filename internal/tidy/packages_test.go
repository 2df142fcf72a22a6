package tidy

import (
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

const (
	maxDocLines   = 40
	maxInterfaces = 7
	maxFileBytes  = 256 << 10
)

// TestPackageDocs: each package says in doc.go, briefly, what it is about.
func TestPackageDocs(t *testing.T) {
	docs, dirs := map[string]*file{}, map[string]bool{}
	for _, f := range load(t) {
		dirs[f.dir()] = true
		if path.Base(f.path) == "doc.go" {
			docs[f.dir()] = f
		}
	}
	for dir := range dirs {
		f := docs[dir]
		if f == nil || f.ast.Doc == nil {
			t.Errorf("%s/doc.go:1: missing: say what moves through, who owns what, the trap", dir)
			continue
		}
		if n := strings.Count(f.ast.Doc.Text(), "\n"); n > maxDocLines {
			t.Errorf("%s:1: %d lines of package comment: at most %d", f.path, n, maxDocLines)
		}
	}
}

// TestEveryPackageIsTested: a package with code has a test file.
func TestEveryPackageIsTested(t *testing.T) {
	code, tests := map[string]bool{}, map[string]bool{}
	for _, f := range load(t) {
		switch {
		case f.isTest():
			tests[f.dir()] = true
		case path.Base(f.path) != "doc.go":
			code[f.dir()] = true
		}
	}
	for dir := range code {
		if !tests[dir] {
			t.Errorf("%s: no test: write one", dir)
		}
	}
}

// TestFewInterfaces counts named interfaces with methods: fewer than eight in
// the library.
func TestFewInterfaces(t *testing.T) {
	var all []string
	for _, f := range load(t) {
		if !f.inLibrary() || f.isTest() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok && hasMethods(i) {
				all = append(all, f.dir()+"."+spec.Name.Name)
			}
			return true
		})
	}
	if len(all) > maxInterfaces {
		t.Errorf("%d interfaces, at most %d: use structs for some of %v",
			len(all), maxInterfaces, all)
	}
}

func hasMethods(i *ast.InterfaceType) bool {
	for _, m := range i.Methods.List {
		if _, ok := m.Type.(*ast.FuncType); ok {
			return true
		}
	}
	return false
}

// TestModulesReplaceNothing: a module with a replace cannot be installed by
// its version. go.work resolves the modules here.
func TestModulesReplaceNothing(t *testing.T) {
	replace := regexp.MustCompile(`(?m)^\s*replace\b`)
	err := walk(func(name string) error {
		if path.Base(name) != "go.mod" {
			return nil
		}
		src, err := read(name)
		if at := replace.FindStringIndex(src); at != nil {
			t.Errorf("%s:%d: replace: go.work is the place for it", name,
				1+strings.Count(src[:at[1]], "\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoLargeFiles looks at what git has, or would add.
func TestNoLargeFiles(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "-z", "-co", "--exclude-standard")
	cmd.Dir = testenv.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Logf("git ls-files: %v; looking at all files but hidden ones", err)
		out = nil
		if err := walk(func(name string) error {
			out = append(append(out, name...), 0)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(testenv.Root(), name))
		if err != nil || strings.HasPrefix(path.Base(name), "go.") {
			continue // deleted in the tree; sums grow by themselves
		}
		if info.Size() > maxFileBytes {
			t.Errorf("%s:1: %d bytes, at most %d: generate it, or cut it down", name,
				info.Size(), maxFileBytes)
		}
	}
}
