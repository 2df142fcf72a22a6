package tidy

import (
	"go/ast"
	"strings"
	"unicode/utf8"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
	maxColumns       = 100
	tabColumns       = 4
)

var repeat = strings.Repeat

func fileLength(f *file) []finding {
	if n := strings.Count(f.src, "\n"); n > maxFileLines {
		return []finding{found(1, "%d lines: split it by subject, at most %d", n, maxFileLines)}
	}
	return nil
}

// functionLength counts the lines between the braces.
func functionLength(f *file) (all []finding) {
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		n := f.fset.Position(fn.Body.Rbrace).Line - f.fset.Position(fn.Body.Lbrace).Line - 1
		if n > maxFunctionLines {
			all = append(all, found(f.line(fn), "%s has %d lines: split it, at most %d",
				fn.Name.Name, n, maxFunctionLines))
		}
	}
	return all
}

func lineLength(f *file) (all []finding) {
	line := 0
	for text := range strings.Lines(f.src) {
		line++
		text = strings.TrimRight(text, "\n")
		columns := utf8.RuneCountInString(text) + (tabColumns-1)*strings.Count(text, "\t")
		if columns > maxColumns {
			all = append(all, found(line, "%d columns: break it, at most %d", columns, maxColumns))
		}
	}
	return all
}
