package vet

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const ignore = "//waymark:ignore"

// line is a line of a file.
type line struct {
	file   string
	number int
}

// ignores are the lines whose findings are accepted, each with the reason.
type ignores map[line]string

func findIgnores(pass *analysis.Pass) ignores {
	found := make(ignores)
	for _, f := range pass.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				rest, ok := strings.CutPrefix(c.Text, ignore)
				if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
					continue
				}
				at := lineOf(pass.Fset, c.Pos())
				if isAlone(pass, c) {
					at.number++
				}
				found[at] = strings.TrimSpace(rest)
			}
		}
	}
	return found
}

// isAlone reports whether nothing but blanks is before a comment on its line.
func isAlone(pass *analysis.Pass, c *ast.Comment) bool {
	file := pass.Fset.File(c.Pos())
	text, err := pass.ReadFile(file.Name())
	if err != nil || file.Size() != len(text) {
		return false
	}
	start := file.Offset(file.LineStart(file.Line(c.Pos())))
	return len(bytes.TrimSpace(text[start:file.Offset(c.Pos())])) == 0
}

func lineOf(fset *token.FileSet, pos token.Pos) line {
	p := fset.PositionFor(pos, false)
	return line{p.Filename, p.Line}
}

// report reports a finding, unless it is accepted on its line or on the one where the
// statement around it begins.
func (ix *index) report(pass *analysis.Pass, around ast.Node, d analysis.Diagnostic) {
	for _, pos := range []token.Pos{d.Pos, around.Pos()} {
		reason, ok := ix.ignores[lineOf(pass.Fset, pos)]
		if ok && reason != "" {
			return
		}
		if ok {
			d.Message += " (" + ignore + " is to be followed by the reason)"
			break
		}
	}
	d.URL = page(pass.Analyzer.Name)
	pass.Report(d)
}

// statement returns the innermost statement, specification or field around a node, or the node.
func statement(at inspector.Cursor) ast.Node {
	for c := range at.Enclosing() {
		switch n := c.Node().(type) {
		case ast.Stmt, ast.Spec, *ast.Field:
			return n
		}
	}
	return at.Node()
}

// reportAt reports about n, which is at or below a cursor.
func (ix *index) reportAt(pass *analysis.Pass, at inspector.Cursor, n ast.Node, format string, args ...any) {
	ix.report(pass, statement(at), analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Message: fmt.Sprintf(format, args...)})
}
