package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// A guard finds out whether code runs only while a point is enabled.
type guard struct {
	info  *types.Info
	point ast.Expr // as it is written where it is hit
	flags map[types.Object]ast.Expr
}

// from returns the beginning of the code that a guard around a hit protects, NoPos when there
// is no guard. It checks the statements around the hit, and "if !m.Enabled() { return }" before it.
func (g *guard) from(at inspector.Cursor) token.Pos {
	for c := at; ; c = c.Parent() {
		up := c.Parent()
		if up.Node() == nil {
			return token.NoPos
		}
		switch n := up.Node().(type) {
		case *ast.IfStmt:
			kind := c.ParentEdgeKind()
			if kind == edge.IfStmt_Body && g.implied(n.Cond, true) || kind == edge.IfStmt_Else && g.implied(n.Cond, false) {
				return c.Node().Pos()
			}
		case *ast.ForStmt:
			if n.Cond != nil && c.ParentEdgeKind() == edge.ForStmt_Body && g.implied(n.Cond, true) {
				return n.Body.Pos()
			}
		case *ast.CaseClause:
			if isTagless(up) && len(n.List) > 0 && every(n.List, func(e ast.Expr) bool { return g.implied(e, true) }) {
				return n.Colon
			}
		}
		if pos := g.left(c); pos.IsValid() {
			return pos
		}
	}
}

// left returns the end of an earlier statement of the same list that leaves it while the
// point is not enabled.
func (g *guard) left(c inspector.Cursor) token.Pos {
	switch c.ParentEdgeKind() {
	case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
	default:
		return token.NoPos
	}
	for {
		before, ok := c.PrevSibling()
		if !ok || before.ParentEdgeKind() != c.ParentEdgeKind() {
			return token.NoPos
		}
		if n, ok := before.Node().(*ast.IfStmt); ok && g.implied(n.Cond, false) && leaves(n.Body) {
			return n.End()
		}
		c = before
	}
}

// implied reports whether the point is enabled when e is value. "a.Enabled() || b.Enabled()"
// guards either: such code computes something for both.
func (g *guard) implied(e ast.Expr, value bool) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.NOT && g.implied(e.X, !value)
	case *ast.BinaryExpr:
		switch {
		case (e.Op == token.LAND || e.Op == token.LOR) && value, e.Op == token.LOR:
			return g.implied(e.X, value) || g.implied(e.Y, value)
		case e.Op == token.LAND:
			return g.implied(e.X, value) && g.implied(e.Y, value)
		}
	case *ast.CallExpr:
		sel, _, name := method(g.info, e)
		return value && name == "Enabled" && g.same(sel.X, g.point)
	case *ast.Ident:
		if set := g.flags[g.info.Uses[e]]; set != nil {
			return g.implied(set, value)
		}
	}
	return false
}

// same reports whether two expressions are one point: they read alike and begin with one variable.
func (g *guard) same(a, b ast.Expr) bool {
	return types.ExprString(a) == types.ExprString(b) && g.first(a) == g.first(b)
}

func (g *guard) first(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return g.info.Uses[x]
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// leaves reports whether a block's last statement ends the code around it.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch n := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return n.Tok != token.FALLTHROUGH
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

func isTagless(clause inspector.Cursor) bool {
	s, ok := clause.Parent().Parent().Node().(*ast.SwitchStmt)
	return ok && s.Tag == nil
}

func every(list []ast.Expr, ok func(ast.Expr) bool) bool {
	for _, e := range list {
		if !ok(e) {
			return false
		}
	}
	return true
}
