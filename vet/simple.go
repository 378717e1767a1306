package vet

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/waymark-trace/waymark/event"
)

// Simple checks simple markers, which must leave nothing in the code.
var Simple = &analysis.Analyzer{
	Name:     "marksimple",
	Doc:      "check simple markers\n\nName and format of a simple marker are constants, and its arguments variables that fit the format, or fields of variables without a pointer between: of these alone the compiler leaves no code, and they alone have a name by which a tool finds them.",
	URL:      page("marksimple"),
	Requires: []*analysis.Analyzer{indexer},
	Run:      runSimple,
}

func runSimple(pass *analysis.Pass) (any, error) {
	ix := indexOf(pass)
	if ix == nil {
		return nil, nil
	}
	for _, h := range ix.simple {
		args := h.call.Args
		for i, what := range []string{"name", "format"} {
			s, ok := text(pass.TypesInfo, args[i])
			var err error
			switch {
			case !ok:
				err = fmt.Errorf("the %s of a simple marker is a constant: tools read it in the source", what)
			case i == 0:
				err = event.CheckSimpleName(s)
			default:
				err = checkSimpleFormat(s, pass.TypesInfo, args[2:])
			}
			if err != nil {
				ix.reportAt(pass, h.at, args[i], "%v", err)
			}
		}
		for _, arg := range args[2:] {
			if left := leftOf(pass.TypesInfo, arg); left != "" {
				ix.reportAt(pass, h.at, arg, "%s %s; mark with a variable, or a field of one that is a struct", exprText(arg), left)
			} else if v := ix.captured(pass.TypesInfo, h, arg); v != nil {
				ix.reportAt(pass, h.at, arg, "the function literal captures %s for the marker alone; mark where %s is used", v.Name(), v.Name())
			}
		}
	}
	return nil, nil
}

// checkSimpleFormat checks the arguments that have a kind against the table of verbs and kinds.
// Simple markers name variables of any type; tools print the others in their own way.
func checkSimpleFormat(format string, info *types.Info, args []ast.Expr) error {
	verbs, err := event.Verbs(format)
	if err != nil {
		return err
	}
	if len(verbs) != len(args) {
		return fmt.Errorf("format %q has %d verbs for %d arguments", format, len(verbs), len(args))
	}
	for i, v := range verbs {
		t := info.TypeOf(args[i])
		if k := kindOf(types.Default(t)); k != event.Invalid && !v.Accepts(k) {
			return fmt.Errorf("format %q: %s cannot print %s, which is %s", format, v.Text, exprText(args[i]), k)
		}
	}
	return nil
}

// leftOf names the code that the compiler keeps of an argument, "" for none.
func leftOf(info *types.Info, e ast.Expr) string {
	if info.Types[e].Value != nil {
		return "" // computed by the compiler
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return leftOf(info, e.X)
	case *ast.Ident:
		return ""
	case *ast.SelectorExpr:
		switch s := info.Selections[e]; {
		case s == nil: // a variable of another package
			return ""
		case s.Kind() != types.FieldVal:
			return "is made for the marker alone"
		case s.Indirect():
			return "leaves its nil check behind"
		}
		return leftOf(info, e.X)
	case *ast.StarExpr:
		return "leaves its nil check behind"
	case *ast.IndexExpr:
		if t := info.TypeOf(e.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return "is looked up"
			}
			if _, ok := t.Underlying().(*types.Array); ok && info.Types[e.Index].Value != nil {
				return leftOf(info, e.X)
			}
		}
		return "leaves its bounds check behind"
	}
	return "is no variable: it may leave code behind, and has no name by which a tool finds it"
}

// captured returns the variable of an argument when the innermost function literal around the
// marker has no other use for it: it would not be captured without the marker.
func (ix *index) captured(info *types.Info, h *simpleHit, arg ast.Expr) *types.Var {
	v := variable(info, arg)
	for at := range h.at.Enclosing((*ast.FuncLit)(nil)) {
		lit := at.Node().(*ast.FuncLit)
		if v == nil || v.Pos() > lit.Pos() && v.Pos() < lit.End() {
			return nil
		}
		used := false
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isSimple(info, call) {
				return false
			}
			id, ok := n.(*ast.Ident)
			used = used || ok && info.Uses[id] == v
			return !used
		})
		if used {
			return nil
		}
		return v
	}
	return nil
}
