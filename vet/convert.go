package vet

import (
	"go/ast"
	"go/types"
)

// conversion checks T(x): most conversions only rename bits.
func (c *costs) conversion(e *ast.CallExpr) {
	if len(e.Args) != 1 {
		return
	}
	arg := e.Args[0]
	from, to := c.pass.TypesInfo.TypeOf(arg), c.pass.TypesInfo.TypeOf(e)
	if c.boxes(arg, to) || isString(from) != isString(to) && !isTypeParam(from) && !isTypeParam(to) {
		c.add(e, "converting %s to %s", exprText(arg), c.typeText(to))
		return
	}
	c.look(arg)
}

// boxes reports whether a value becomes an interface by a copy on the heap. Pointers are not
// copied, constants and values of a byte have their interface in the program's data.
func (c *costs) boxes(e ast.Expr, to types.Type) bool {
	tv := c.pass.TypesInfo.Types[e]
	if to == nil || !types.IsInterface(to) || isTypeParam(to) || tv.Type == nil || types.IsInterface(tv.Type) || tv.Value != nil || tv.IsNil() {
		return false
	}
	switch u := tv.Type.Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return false
	case *types.Basic:
		if u.Kind() == types.UnsafePointer || u.Info()&types.IsUntyped != 0 {
			return false
		}
	}
	return c.pass.TypesSizes.Sizeof(tv.Type) > 1
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// maxExpr bounds the text of an expression in a message.
const maxExpr = 40

func exprText(e ast.Expr) string {
	if s := types.ExprString(e); len(s) <= maxExpr {
		return s
	}
	return "this"
}

func (c *costs) typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.pass.Pkg {
			return ""
		}
		return p.Name()
	})
}
