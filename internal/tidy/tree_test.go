package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

const library = "github.com/millrace-net/millrace"

// A file is one Go source file.
type file struct {
	path string // from the top of the repository, with slashes
	src  string
	fset *token.FileSet
	ast  *ast.File
}

// dir is the directory of the file; "." is the top.
func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// inLibrary tells whether the file belongs to the library module.
func (f *file) inLibrary() bool {
	for _, module := range []string{"cmd/", "bench/", "lint/", "examples/"} {
		if strings.HasPrefix(f.path, module) {
			return false
		}
	}
	return true
}

func (f *file) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// imports yields each import path and its line.
func (f *file) imports(yield func(path string, line int) bool) {
	for _, spec := range f.ast.Imports {
		if !yield(strings.Trim(spec.Path.Value, `"`), f.line(spec)) {
			return
		}
	}
}

// parse makes a file of source text.
func parse(name, src string) (*file, error) {
	f := &file{path: name, src: src, fset: token.NewFileSet()}
	var err error
	f.ast, err = parser.ParseFile(f.fset, name, src, parser.ParseComments)
	return f, err
}

// walk calls visit for each file below the top, testdata and hidden
// directories left out.
func walk(visit func(name string) error) error {
	root := testenv.Root()
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"
		if d.IsDir() && name != root && (hidden || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		name, err = filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name))
	})
}

// tree parses every Go file of every module, once.
var tree = sync.OnceValues(func() (files []*file, err error) {
	err = walk(func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := read(name)
		if err != nil {
			return err
		}
		f, err := parse(name, src)
		files = append(files, f)
		return err
	})
	return files, err
})

func read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(testenv.Root(), filepath.FromSlash(name)))
	return string(b), err
}

func load(t *testing.T) []*file {
	t.Helper()
	files, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return files
}
