package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// Decl checks that points are package-level variables, and stay where they are.
var Decl = &analysis.Analyzer{
	Name:     "markdecl",
	Doc:      "check where markers, tracepoints and keys are declared\n\nEach is a package-level variable made by New, so that the compiler lays it out in the file, where tools find it; a copy is not the point that is armed.",
	URL:      page("markdecl"),
	Requires: []*analysis.Analyzer{indexer},
	Run:      runDecl,
}

func runDecl(pass *analysis.Pass) (any, error) {
	ix := indexOf(pass)
	if ix == nil {
		return nil, nil
	}
	for _, d := range ix.decls {
		ix.checkPlace(pass, d)
	}
	for c := range ix.root.Preorder((*ast.Ident)(nil), (*ast.SelectorExpr)(nil), (*ast.IndexExpr)(nil), (*ast.IndexListExpr)(nil), (*ast.StarExpr)(nil)) {
		e := c.Node().(ast.Expr)
		if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
			continue // the selector is checked
		}
		a := pointType(typeOf(pass.TypesInfo, e))
		if a == nil {
			continue
		}
		if pass.TypesInfo.Types[e].IsType() {
			ix.checkUse(pass, a, c)
		} else {
			ix.checkCopy(pass, a, c)
		}
	}
	return nil, nil
}

// typeOf returns the type of an expression, also of a variable that it declares.
func typeOf(info *types.Info, e ast.Expr) types.Type {
	if id, ok := e.(*ast.Ident); ok {
		if obj := info.Defs[id]; obj != nil {
			return obj.Type()
		}
	}
	return info.TypeOf(e)
}

// packageOf returns the name of the package of a point's type.
func packageOf(point types.Type) string {
	return types.Unalias(point).(*types.Named).Obj().Pkg().Name()
}

// remedy ends the message about a point in the wrong scope.
const remedy = "; declare it as a package-level variable, var x = %s.New…"

// checkPlace reports a point that does not begin as a package-level variable.
func (ix *index) checkPlace(pass *analysis.Pass, d *decl) {
	at := outermost(d.at)
	up := at.Parent()
	spec, isVar := up.Node().(*ast.ValueSpec)
	pkg := packageOf(pass.TypesInfo.TypeOf(d.call))
	switch {
	case inFunction(at):
		ix.reportAt(pass, d.at, d.call, d.label(pass)+"made in a function, where no tool finds it"+remedy, pkg)
	case !isVar:
		ix.reportAt(pass, d.at, d.call, d.label(pass)+"made as part of something else, where tools may miss it or its arguments"+remedy, pkg)
	case spec.Type != nil && pointType(pass.TypesInfo.TypeOf(spec.Type)) == nil:
		ix.reportAt(pass, d.at, d.call, d.label(pass)+"put into an interface, which holds a copy"+remedy, pkg)
	case d.api.formatted:
		for _, e := range []ast.Expr{d.name, d.format} {
			if _, ok := text(pass.TypesInfo, e); !ok && e != nil {
				ix.reportAt(pass, d.at, e, "%s: not a constant, so the %s is made when the program starts and waymark link does not find it in the file", exprText(e), d.api.noun)
			}
		}
	}
}

// checkUse reports a type of points, itself and not a pointer to it, where values of it come
// from somewhere or go somewhere.
func (ix *index) checkUse(pass *analysis.Pass, a *api, c inspector.Cursor) {
	at := outermost(c)
	up := at.Parent()
	switch n := up.Node().(type) {
	case *ast.Field:
		switch up.Parent().ParentEdgeKind() {
		case edge.StructType_Fields:
			ix.reportAt(pass, c, n, "%s in a struct, where tools may miss it or its arguments; declare it as a package-level variable, and a pointer to it here", a.noun)
		case edge.FuncType_Params, edge.FuncType_Results:
			ix.reportAt(pass, c, n, "%s passed by value: the copy is not the one that is armed; pass a pointer", a.noun)
		}
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.Ellipsis:
		if _, ok := up.Parent().Node().(*ast.CompositeLit); !ok { // its elements are checked
			ix.reportAt(pass, c, n, "%s as an element, where tools may miss it or its arguments; declare each as a package-level variable, and have pointers here", a.noun)
		}
	case *ast.ValueSpec:
		if len(n.Values) == 0 {
			ix.reportAt(pass, c, n, "%s that no New made does nothing; write var %s = %s.New…", a.noun, n.Names[0].Name, packageOf(pass.TypesInfo.TypeOf(n.Type)))
		}
	}
}

// checkCopy reports a point that is used as a value.
func (ix *index) checkCopy(pass *analysis.Pass, a *api, c inspector.Cursor) {
	at := outermost(c)
	e := at.Node().(ast.Expr)
	copied := false
	switch n := at.Parent().Node().(type) {
	case *ast.AssignStmt:
		copied = slices.Contains(n.Rhs, e) && !isBlank(n)
	case *ast.ValueSpec:
		copied = slices.Contains(n.Values, e)
	case *ast.CallExpr:
		copied = slices.Contains(n.Args, e) && !pass.TypesInfo.Types[n.Fun].IsBuiltin()
	case *ast.CompositeLit:
		copied = slices.Contains(n.Elts, e)
	case *ast.KeyValueExpr:
		copied = n.Value == e
	case *ast.RangeStmt:
		copied = n.Key == e || n.Value == e
	case *ast.ReturnStmt, *ast.TypeAssertExpr:
		copied = true
	case *ast.SendStmt:
		copied = n.Value == e
	}
	if copied {
		ix.reportAt(pass, c, e, "%s %s is copied, and the copy is not the one that is armed; use a pointer", a.noun, exprText(ast.Unparen(e)))
	}
}

// outermost returns the cursor of e with the parentheses around it.
func outermost(c inspector.Cursor) inspector.Cursor {
	for {
		if _, ok := c.Parent().Node().(*ast.ParenExpr); !ok {
			return c
		}
		c = c.Parent()
	}
}

func inFunction(c inspector.Cursor) bool {
	for range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return true
	}
	return false
}

// isBlank reports whether an assignment is to _ alone, which copies nothing.
func isBlank(n *ast.AssignStmt) bool {
	for _, e := range n.Lhs {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return n.Tok == token.ASSIGN
}
