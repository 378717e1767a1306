package vet

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// toolDirs are the directories of golang.org/x/tools, but for go/packages/packagestest: it needs a
// module that the requirements of a tidy go.mod do not lead to, and the go command then lists nothing.
var toolDirs = []string{
	"benchmark/...", "blog/...", "cmd/...", "container/...", "cover", "go/analysis/...", "go/ast/...", "go/buildutil",
	"go/callgraph/...", "go/cfg", "go/gcexportdata", "go/internal/...", "go/loader", "go/packages", "go/ssa/...",
	"go/types/...", "imports", "internal/...", "playground/...", "present/...", "refactor/...", "txtar",
}

// loadTools returns the packages of golang.org/x/tools, code of others that has no marker and
// much that is unusual. Those that need modules which are not in this build are left out.
func loadTools(t *testing.T) []*packages.Package {
	t.Helper()
	if testing.Short() {
		t.Skip("loads 200 packages")
	}
	var patterns []string
	for _, dir := range toolDirs {
		patterns = append(patterns, "golang.org/x/tools/"+dir)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.IllTyped || len(p.Errors) > 0 })
	if len(pkgs) < 100 {
		why := "golang.org/x/tools is not in the module cache: go mod download golang.org/x/tools has it"
		if os.Getenv("WAYMARK_REQUIRE_PEERS") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	return pkgs
}

func TestNothingInTools(t *testing.T) {
	graph, err := checker.Analyze(append(Analyzers(), everyCall), loadTools(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	fixes := 0
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Errorf("%v: %v", act, act.Err)
		}
		if act.Analyzer == everyCall {
			fixes += checkFixes(t, act)
			continue
		}
		for _, d := range act.Diagnostics {
			t.Errorf("%v: %s", act.Package.Fset.Position(d.Pos), d.Message)
		}
	}
	t.Logf("%d statements wrapped", fixes)
	if fixes < 1000 {
		t.Errorf("only %d statements of golang.org/x/tools can be wrapped", fixes)
	}
}

// everyCall treats each call of a method as one of a marker's. The findings are meaningless, but
// nothing may panic, and the fixes must leave valid code.
var everyCall = &analysis.Analyzer{
	Name: "everycall",
	Doc:  "wrap every call that could be wrapped",
	Run: func(pass *analysis.Pass) (any, error) {
		ix := newIndex(pass)
		for c := range ix.root.Preorder((*ast.CallExpr)(nil)) {
			call := c.Node().(*ast.CallExpr)
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || pass.TypesInfo.Selections[sel] == nil {
				continue
			}
			h := &hit{api: apis[module+"marker"], at: c, call: call, point: sel.X}
			costs := &costs{pass: pass}
			costs.arguments(call)
			for _, arg := range call.Args {
				escaping(pass.TypesInfo, arg)
			}
			guard := &guard{pass.TypesInfo, h.point, ix.flags}
			if guard.from(c).IsValid() {
				pass.Reportf(call.Pos(), "guarded by nothing")
			}
			if fix, ok := ix.wrap(pass, h); ok {
				pass.Report(analysis.Diagnostic{Pos: call.Pos(), SuggestedFixes: []analysis.SuggestedFix{fix}})
			}
		}
		return nil, nil
	},
}

// checkFixes applies all fixes and returns how many these were.
func checkFixes(t *testing.T, act *checker.Action) int {
	t.Helper()
	byFile := make(map[*token.File][]analysis.TextEdit)
	for _, d := range act.Diagnostics {
		if len(d.SuggestedFixes) == 0 {
			t.Errorf("%v: %s", act.Package.Fset.Position(d.Pos), d.Message)
			continue
		}
		for _, e := range d.SuggestedFixes[0].TextEdits {
			file := act.Package.Fset.File(e.Pos)
			byFile[file] = append(byFile[file], e)
		}
	}
	for file, edits := range byFile {
		source, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(edits, func(a, b analysis.TextEdit) int { return cmp.Compare(a.Pos, b.Pos) })
		var out bytes.Buffer
		at := 0
		for _, e := range edits {
			out.Write(source[at:file.Offset(e.Pos)])
			out.Write(e.NewText)
			at = file.Offset(e.End)
		}
		out.Write(source[at:])
		text, err := format.Source(out.Bytes())
		if err != nil {
			t.Errorf("%s is no Go after its calls were wrapped: %v", file.Name(), err)
			continue
		}
		if was, is := comments(t, source), comments(t, text); was != is {
			t.Errorf("%s: %d comments became %d", file.Name(), was, is)
		}
	}
	return len(act.Diagnostics)
}

func comments(t *testing.T, source []byte) int {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, group := range f.Comments {
		n += len(group.List)
	}
	return n
}
