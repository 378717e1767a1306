package gosource

import (
	"go/ast"
	"strings"
)

// functions notes the functions of the file, each ahead of those within it.
func (f *File) functions() {
	for _, d := range f.syntax.Decls {
		name := ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			if name = symbol(fn); fn.Body != nil {
				f.Functions = append(f.Functions, &Function{
					Name: name, Line: f.line(fn.Pos()), Body: f.line(fn.Body.Lbrace),
					Kept: noinline(fn.Doc) || kept(fn.Body) || fn.Recv == nil && (name == "init" || name == "main" && f.Package == "main"),
				})
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				f.Functions = append(f.Functions, &Function{
					Name: name, Literal: true, Line: f.line(lit.Pos()), Body: f.line(lit.Body.Lbrace), Kept: kept(lit.Body),
				})
			}
			return true
		})
	}
}

// symbol returns the name of a function behind its package, without type parameters.
func symbol(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	pointer := false
	for t := fn.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			pointer, t = true, x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			if pointer {
				return "(*" + x.Name + ")." + fn.Name.Name
			}
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

func noinline(doc *ast.CommentGroup) bool {
	if doc != nil {
		for _, c := range doc.List {
			if strings.TrimRight(c.Text, " \t\r") == "//go:noinline" {
				return true
			}
		}
	}
	return false
}

// kept reports whether a body has what keeps it from being inlined.
func kept(body *ast.BlockStmt) bool {
	found := false
	within(body, func(n ast.Node) {
		switch n.(type) {
		case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt:
			found = true
		}
	})
	return found
}

// within calls fn with every node of a function that is not in a literal within it, the
// literals themselves included.
func within(n ast.Node, fn func(ast.Node)) {
	ast.Inspect(n, func(m ast.Node) bool {
		if m == nil {
			return false
		}
		fn(m)
		_, literal := m.(*ast.FuncLit)
		return !literal || m == n
	})
}
