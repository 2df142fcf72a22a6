package tidy

import (
	"go/ast"
	"slices"
	"strings"
)

func unsafeSeam(f *file) (all []finding) {
	if f.isTest() || strings.HasSuffix(f.path, "_unsafe.go") {
		return nil
	}
	for imported, line := range f.imports {
		if imported == "unsafe" {
			all = append(all, found(line,
				"imports unsafe: move those lines to a file named *_unsafe.go, with the proof"))
		}
	}
	return all
}

// systemPackages are those that may make system calls.
var systemPackages = []string{"mem", "xsk", "tap", "internal/testenv", "cmd/millrace/lab/method"}

func syscallSeam(f *file) (all []finding) {
	if f.isTest() || slices.Contains(systemPackages, f.dir()) {
		return nil
	}
	for imported, line := range f.imports {
		if imported == "golang.org/x/sys/unix" || imported == "syscall" && f.inLibrary() {
			all = append(all, found(line, "imports %s: only %s and tests may", imported,
				strings.Join(systemPackages, ", ")))
		}
	}
	return all
}

func rawSyscalls(f *file) (all []finding) {
	if strings.HasSuffix(f.path, "_unsafe.go") {
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		name := strings.TrimRight(sel.Sel.Name, "6")
		if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "unix" || x.Name == "syscall") &&
			slices.Contains([]string{"Syscall", "RawSyscall", "SyscallNoError"}, name) {
			all = append(all, found(f.line(n), "%s.%s: move it to a file named *_unsafe.go",
				x.Name, sel.Sel.Name))
		}
		return true
	})
	return all
}

func linkname(f *file) (all []finding) {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				all = append(all, found(f.line(c), "go:linkname: use what the package exports"))
			}
		}
	}
	return all
}

func exits(f *file) (all []finding) {
	if strings.HasPrefix(f.path, "cmd/") {
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		ends := ok && (x.Name == "log" && strings.HasPrefix(sel.Sel.Name, "Fatal") ||
			x.Name == "os" && sel.Sel.Name == "Exit" && !f.isTest())
		if ends {
			all = append(all, found(f.line(n), "%s.%s ends the program: return an error",
				x.Name, sel.Sel.Name))
		}
		return true
	})
	return all
}

// skips finds tests that skip by themselves: CI could not tell a machine that
// lacks something from a test that never runs.
func skips(f *file) (all []finding) {
	if f.dir() == "internal/testenv" {
		return nil
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !f.isTest() {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && slices.Contains([]string{"t", "b", "f", "tb"}, x.Name) &&
			slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
			all = append(all, found(f.line(n), "%s.%s: skip through internal/testenv",
				x.Name, sel.Sel.Name))
		}
		return true
	})
	return all
}
