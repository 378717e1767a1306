package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// lenders are the files of the command that give its streams to a program which it runs.
var lenders = []string{"cli/internal/session/session.go", "cli/internal/build/build.go", "cli/internal/demo/demo.go"}

// The texts of programs, files, rings and agents reach a terminal through package term alone, which escapes them:
// nothing else in the command has a stream, or formats a line by itself.
func TestOneWayOut(t *testing.T) {
	const command = root + "/cmd/waymark/"
	files := 0
	eachSource(t, func(path string, text []byte) {
		name, ok := strings.CutPrefix(path, command)
		if !ok || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "cli/internal/term/") {
			return
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"log"` || i.Path.Value == `"log/slog"` {
				t.Errorf("%s imports %s, which writes to standard error: use term.Env", name, i.Path.Value)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if bypass := bypasses(n); bypass != "" && !mayBypass(name, bypass) {
				t.Errorf("%s: %s bypasses package term: use term.Linef, term.Table or the messages of term.Env", set.Position(n.Pos()), bypass)
			}
			return true
		})
	})
	if files < 20 {
		t.Errorf("%d files of the command were found below %s", files, command)
	}
}

// bypasses returns the name of a function or variable by which text gets out without package term; "" for other nodes.
func bypasses(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		pkg, _ := n.X.(*ast.Ident)
		switch name := n.Sel.Name; {
		case pkg != nil && pkg.Name == "fmt" && (strings.HasPrefix(name, "Fprint") || strings.HasPrefix(name, "Print")),
			pkg != nil && pkg.Name == "os" && (name == "Stdout" || name == "Stderr"),
			pkg != nil && pkg.Name == "io" && name == "WriteString":
			return pkg.Name + "." + name
		case name == "Lend":
			return "Lend"
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "println" {
			return f.Name
		}
	}
	return ""
}

func mayBypass(file, what string) bool {
	return what == "Lend" && slices.Contains(lenders, file) || strings.HasPrefix(what, "os.") && file == "main.go"
}
