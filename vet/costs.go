package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// costs collects the expensive parts of arguments: the outermost expressions that call, allocate
// or look something up.
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

// arguments checks the arguments of a call, and the conversions to its parameters.
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

// look finds the outermost expensive parts of an expression.
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
		c.operand(e, e.X)
		c.operand(e, e.Y)
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

// operand checks one side of e. The compiler compares string(b) without making the string.
func (c *costs) operand(e *ast.BinaryExpr, side ast.Expr) {
	switch e.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		call, ok := ast.Unparen(side).(*ast.CallExpr)
		if ok && len(call.Args) == 1 && c.pass.TypesInfo.Types[call.Fun].IsType() && isString(c.pass.TypesInfo.TypeOf(call)) {
			side = call.Args[0]
		}
	}
	c.look(side)
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
