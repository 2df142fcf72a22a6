package tidy

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A badName is a part of a name that says nothing: the word behind a capital
// or at the start.
var (
	badName    = regexp.MustCompile(`(^|[a-z0-9_])(Manager|Utils?|Common|Helpers?)([A-Z0-9_]|$)`)
	badFile    = []string{"util", "utils", "common", "helper", "helpers", "manager", "misc"}
	badPackage = append([]string{"types", "models", "pkg", "shared", "base"}, badFile...)
	badMarks   = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
)

func capital(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// names looks at what the file declares, not at what it uses.
func names(f *file) (all []finding) {
	declared := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id != nil && badName.MatchString(capital(id.Name)) {
				all = append(all, found(f.line(id), "%s: name it by what it is or does", id.Name))
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			declared(n.Name)
		case *ast.TypeSpec:
			declared(n.Name)
		case *ast.ValueSpec:
			declared(n.Names...)
		case *ast.Field:
			declared(n.Names...)
		}
		return true
	})
	return all
}

func packageName(f *file) []finding {
	name := strings.TrimSuffix(f.ast.Name.Name, "_test")
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
	if slices.Contains(badPackage, name) || slices.Contains(badFile, base) {
		return []finding{found(1, "package %s, file %s: name it by what is in it", name, base)}
	}
	return nil
}

func unfinished(f *file) (all []finding) {
	line := 0
	for text := range strings.Lines(f.src) {
		line++
		if m := badMarks.FindString(text); m != "" {
			all = append(all, found(line, "%s: do it, or open an issue", m))
		}
	}
	return all
}

func emoji(f *file) (all []finding) {
	line := 0
	for text := range strings.Lines(f.src) {
		line++
		if i := strings.IndexFunc(text, isEmoji); i >= 0 {
			all = append(all, found(line, "emoji: say it in words"))
		}
	}
	return all
}

func isEmoji(r rune) bool {
	return r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff || r >= 0x1f000 && r <= 0x1faff
}
