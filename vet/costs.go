package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// costs collects what evaluating arguments costs: the outermost expressions that call,
// allocate or look something up.
type costs struct {
	pass     *analysis.Pass
	found    []cost
	received ast.Expr // a receive: no cost, but an effect that a guard would take away
}

type cost struct {
	expr ast.Expr
	what string // "calling fmt.Sprint"
}

func (c *costs) add(e ast.Expr, format string, args ...any) {
	c.found = append(c.found, cost{e, fmt.Sprintf(format, args...)})
}

// arguments looks at the arguments of a call, and at what passing them to it does.
func (c *costs) arguments(call *ast.CallExpr) {
	sig, _ := c.pass.TypesInfo.TypeOf(call.Fun).(*types.Signature)
	for i, arg := range call.Args {
		before := len(c.found)
		c.look(arg)
		if sig != nil && i < sig.Params().Len() && len(c.found) == before && c.boxes(arg, sig.Params().At(i).Type()) {
			c.add(arg, "converting %s to %s", exprText(arg), c.typeText(sig.Params().At(i).Type()))
		}
		ast.Inspect(arg, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
				c.received = u
			}
			_, isFunc := n.(*ast.FuncLit)
			return !isFunc
		})
	}
}

// look finds the outermost costs in an expression.
func (c *costs) look(e ast.Expr) {
	if c.pass.TypesInfo.Types[e].Value != nil {
		return // constants are computed by the compiler
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		c.look(e.X)
	case *ast.StarExpr:
		c.look(e.X)
	case *ast.UnaryExpr:
		c.unary(e)
	case *ast.BinaryExpr:
		if e.Op == token.ADD && isString(c.pass.TypesInfo.TypeOf(e)) {
			c.add(e, "concatenating strings")
			return
		}
		c.look(e.X)
		c.look(e.Y)
	case *ast.SelectorExpr:
		c.selector(e)
	case *ast.IndexExpr:
		c.index(e)
	case *ast.SliceExpr:
		for _, x := range []ast.Expr{e.X, e.Low, e.High, e.Max} {
			if x != nil {
				c.look(x)
			}
		}
	case *ast.TypeAssertExpr:
		if types.IsInterface(c.pass.TypesInfo.TypeOf(e)) {
			c.add(e, "asserting an interface")
			return
		}
		c.look(e.X)
	case *ast.CompositeLit:
		c.add(e, "building %s", c.typeText(c.pass.TypesInfo.TypeOf(e)))
	case *ast.FuncLit:
		if captures(c.pass.TypesInfo, e) {
			c.add(e, "making a closure")
		}
	case *ast.CallExpr:
		c.call(e)
	}
}

func (c *costs) unary(e *ast.UnaryExpr) {
	lit, isLit := ast.Unparen(e.X).(*ast.CompositeLit)
	switch {
	case e.Op == token.ARROW:
		c.add(e, "receiving from %s", exprText(e.X))
	case e.Op == token.AND && isLit:
		c.add(e, "allocating %s", c.typeText(c.pass.TypesInfo.TypeOf(lit)))
	default:
		c.look(e.X)
	}
}

func (c *costs) selector(e *ast.SelectorExpr) {
	switch s := c.pass.TypesInfo.Selections[e]; {
	case s == nil: // a variable of a package
	case s.Kind() == types.MethodVal:
		c.add(e, "making the method value %s", exprText(e))
	case s.Kind() == types.FieldVal:
		c.look(e.X)
	}
}

func (c *costs) index(e *ast.IndexExpr) {
	if t := c.pass.TypesInfo.TypeOf(e.X); t != nil {
		switch t.Underlying().(type) {
		case *types.Map:
			c.add(e, "looking up %s", exprText(e))
			return
		case *types.Signature: // a generic function
			return
		}
	}
	c.look(e.X)
	c.look(e.Index)
}

func (c *costs) call(e *ast.CallExpr) {
	info := c.pass.TypesInfo
	switch fun := info.Types[e.Fun]; {
	case fun.IsType():
		c.conversion(e)
	case isFree(info, e):
		for _, arg := range e.Args {
			if !info.Types[arg].IsType() {
				c.look(arg)
			}
		}
		if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
			c.look(sel.X)
		}
	default:
		c.add(e, "calling %s", exprText(e.Fun))
	}
}

// free are the builtin functions that are an instruction or two.
var free = map[string]bool{
	"len": true, "cap": true, "min": true, "max": true, "real": true, "imag": true, "complex": true,
	"Add": true, "Slice": true, "SliceData": true, "String": true, "StringData": true, // of unsafe
}

// isFree reports whether the compiler makes an instruction of a call rather than a call.
// Short functions are inlined too, but which those are changes with every release.
func isFree(info *types.Info, call *ast.CallExpr) bool {
	switch fn := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		return free[fn.Name()]
	case *types.Func:
		if fn.Pkg() == nil {
			return false
		}
		switch fn.Pkg().Path() {
		case "sync/atomic":
			return strings.HasPrefix(fn.Name(), "Load")
		case "math":
			return strings.HasSuffix(fn.Name(), "bits") // Float64bits, Float64frombits, …
		}
		return apiOf(fn) != nil && fn.Name() == "Enabled"
	}
	return false
}

// captures reports whether a function literal uses variables of the function around it:
// others are laid out by the compiler.
func captures(info *types.Info, lit *ast.FuncLit) bool {
	found := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, ok := info.Uses[id].(*types.Var)
			found = found || ok && isLocal(v) && (v.Pos() < lit.Pos() || v.Pos() > lit.End())
		}
		return !found
	})
	return found
}
