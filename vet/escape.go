package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Escape finds arguments that lead to a local variable, which the compiler then puts on the
// heap, because it cannot see whether a probe keeps them. A guard alone does not help, because the
// compiler decides whether a variable escapes, not when.
var Escape = &analysis.Analyzer{
	Name:     "markescape",
	Doc:      "find arguments of markers that make a local variable escape to the heap\n\nA pointer to a local variable, or a slice of a local array, is allocated in every call of its function, armed or not. A copy made under the guard is allocated only while the marker is armed.",
	URL:      page("markescape"),
	Requires: []*analysis.Analyzer{indexer},
	Run:      runEscape,
}

func runEscape(pass *analysis.Pass) (any, error) {
	ix := indexOf(pass)
	if ix == nil {
		return nil, nil
	}
	for _, h := range ix.hits {
		g := &guard{pass.TypesInfo, h.point, ix.flags}
		guarded := g.from(h.at)
		for _, arg := range h.call.Args {
			v, sliced := escaping(pass.TypesInfo, arg)
			if v == nil || guarded.IsValid() && v.Pos() > guarded {
				continue
			}
			out := "a copy of it made there"
			if sliced {
				out = "bytes.Clone of it, or another copy, there"
			}
			ix.reportAt(pass, h.at, arg, "%s makes the local variable %s escape to the heap, armed or not; write if %s.Enabled() { … } and pass %s",
				exprText(arg), v.Name(), exprText(h.point), out)
		}
	}
	return nil, nil
}

// escaping returns the local variable that a value leads to, nil for none, and whether the
// value is a slice of it.
func escaping(info *types.Info, e ast.Expr) (v *types.Var, sliced bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return variable(info, e.X), false
		}
	case *ast.SliceExpr:
		t := info.TypeOf(e.X)
		if _, ok := t.Underlying().(*types.Array); ok {
			return variable(info, e.X), true
		}
		if isString(t) {
			return nil, false
		}
		return escaping(info, e.X) // of a pointer to an array, or a slice again
	case *ast.CallExpr:
		if len(e.Args) != 1 {
			return nil, false
		}
		if fn := typeutil.StaticCallee(info, e); info.Types[e.Fun].IsType() && leads(info.TypeOf(e)) || fn != nil && isTextOf(fn) {
			return escaping(info, e.Args[0])
		}
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if v, sliced := escaping(info, elt); v != nil {
				return v, sliced
			}
		}
	}
	return nil, false
}

// leads reports whether a converted value still leads to the variable: an address that is a
// number, and the copy that a string is, do not.
func leads(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	}
	return true
}

// variable returns the local variable that e is, or is a part of without a pointer between.
func variable(info *types.Info, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if v, ok := info.Uses[x].(*types.Var); ok && isLocal(v) {
				return v
			}
			return nil
		case *ast.SelectorExpr:
			if s := info.Selections[x]; s == nil || s.Indirect() {
				return nil
			}
			e = x.X
		case *ast.IndexExpr:
			if _, ok := info.TypeOf(x.X).Underlying().(*types.Array); !ok {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

func isLocal(v *types.Var) bool {
	return !v.IsField() && v.Parent() != nil && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}
