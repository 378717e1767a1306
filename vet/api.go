package vet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

const module = "github.com/waymark-trace/waymark/"

// An api is a package that declares points, which a program names and tools trace.
type api struct {
	noun      string   // the noun for its points
	hit       string   // the method of a point that takes arguments, "" for none
	formatted bool     // its points have a format, and are found by link
	named     bool     // New takes the names of its points' arguments
	byName    []string // its functions whose first argument is the name of a point
}

// apis are those packages, by path. Package simple declares where it marks, so its points are
// neither made nor hit, but calls of its functions: isSimple.
var apis = map[string]*api{
	module + "marker":     {noun: "marker", hit: "Mark", formatted: true, byName: []string{"Register", "Arm", "Disarm"}},
	module + "tracepoint": {noun: "tracepoint", hit: "Trace", named: true},
	module + "statickey":  {noun: "key"},
	module + "simple":     {noun: "simple marker"},
}

func apiOf(obj types.Object) *api {
	if obj == nil || obj.Pkg() == nil {
		return nil
	}
	return apis[obj.Pkg().Path()]
}

// pointType returns the api of a type whose values are points, nil for other types. Points are
// structs with a method Enabled; the packages have no others.
func pointType(t types.Type) *api {
	if t == nil {
		return nil
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return nil
	}
	a := apiOf(named.Obj())
	if a == nil {
		return nil
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return nil
	}
	enabled, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), "Enabled")
	if _, ok := enabled.(*types.Func); !ok {
		return nil
	}
	return a
}

// constructs returns the api of a call that makes a point, nil for other calls.
func constructs(info *types.Info, call *ast.CallExpr) *api {
	fn := typeutil.StaticCallee(info, call)
	if fn == nil || fn.Signature().Recv() != nil || !strings.HasPrefix(fn.Name(), "New") || len(call.Args) == 0 {
		return nil
	}
	if a := apiOf(fn); a != nil && a == pointType(info.TypeOf(call)) {
		return a
	}
	return nil
}

// method returns the point that a call is a method of, and its name; nil for other calls.
func method(info *types.Info, call *ast.CallExpr) (*ast.SelectorExpr, *api, string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, nil, ""
	}
	s := info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return nil, nil, ""
	}
	t := s.Recv()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if a := pointType(t); a != nil {
		return sel, a, sel.Sel.Name
	}
	return nil, nil, ""
}

// isSimple reports whether a call is a simple marker.
func isSimple(info *types.Info, call *ast.CallExpr) bool {
	fn := typeutil.StaticCallee(info, call)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == module+"simple" &&
		(strings.HasPrefix(fn.Name(), "Mark") || strings.HasPrefix(fn.Name(), "Anchor")) && len(call.Args) >= 2
}

// knows reports whether a package can have to do with points: it, or something it imports,
// imports their package.
func knows(pass *analysis.Pass) bool {
	if apis[pass.Pkg.Path()] != nil || isTestMain(pass.Pkg) {
		return false // an api may use its own points in any way
	}
	seen := make(map[*types.Package]bool)
	var visit func(p *types.Package) bool
	visit = func(p *types.Package) bool {
		if seen[p] {
			return false
		}
		seen[p] = true
		if apis[p.Path()] != nil {
			return true
		}
		for _, dep := range p.Imports() {
			if visit(dep) {
				return true
			}
		}
		return false
	}
	return visit(pass.Pkg)
}

// isTestMain reports whether p is the program that the go command writes around tests.
func isTestMain(p *types.Package) bool {
	return p.Name() == "main" && strings.HasSuffix(p.Path(), ".test")
}
