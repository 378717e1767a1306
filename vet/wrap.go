package vet

import (
	"bytes"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// wrap returns the fix that puts a hit under its guard. A deferred hit has none, because its
// arguments are computed early on purpose, and neither has a point that is the result of a call,
// which would run twice.
func (ix *index) wrap(pass *analysis.Pass, h *hit) (analysis.SuggestedFix, bool) {
	var none analysis.SuggestedFix
	at := outermost(h.at).Parent()
	stmt, ok := at.Node().(*ast.ExprStmt)
	if !ok || !isListed(at) || hasCall(h.point) {
		return none, false
	}
	file := pass.Fset.File(stmt.Pos())
	source, err := pass.ReadFile(file.Name())
	if err != nil || file.Size() != len(source) {
		return none, false
	}
	begin, end := stmt.Pos(), ix.endWithComment(pass, at)
	lineStart := file.LineStart(file.Line(begin))
	margin := source[file.Offset(lineStart):file.Offset(begin)]
	indent := string(margin[:len(margin)-len(bytes.TrimLeft(margin, "\t "))])
	point := string(source[file.Offset(h.point.Pos()):file.Offset(h.point.End())])
	return analysis.SuggestedFix{
		Message: "guard with if " + point + ".Enabled(); the arguments are then computed only while it is armed",
		TextEdits: []analysis.TextEdit{
			{Pos: begin, End: begin, NewText: []byte("if " + point + ".Enabled() {\n" + indent + "\t")},
			{Pos: end, End: end, NewText: []byte("\n" + indent + "}")},
		},
	}, true
}

// endWithComment returns the end of a statement, or of the comment after it on its last line.
func (ix *index) endWithComment(pass *analysis.Pass, at inspector.Cursor) token.Pos {
	end := at.Node().End()
	file := pass.Fset.File(end)
	next, hasNext := at.NextSibling()
	for c := range at.Enclosing((*ast.File)(nil)) {
		for _, group := range c.Node().(*ast.File).Comments {
			first := group.List[0]
			if first.Pos() >= end && file.Line(first.Pos()) == file.Line(end) && first.Text[1] == '/' &&
				(!hasNext || next.Node().Pos() > first.Pos()) {
				return first.End()
			}
		}
	}
	return end
}

// isListed reports whether a statement is one of a list: others have no room for an if.
func isListed(at inspector.Cursor) bool {
	switch at.ParentEdgeKind() {
	case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
		return true
	}
	return false
}

func hasCall(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		found = found || isCall
		return !found
	})
	return found
}
