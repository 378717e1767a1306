package gosource

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Follow is what follows a marker: the code that may stand for it.
type Follow struct {
	Reason string // why nothing does, "" for something
	Rule   Rule
	// First and Last are the lines that the statement has for itself: of one with blocks
	// those up to its first block.
	First, Last int
	// Calls is how many of its expressions may be calls of functions.
	Calls int
	// Conditional says that it evaluates some expressions only if others say so.
	Conditional bool
	// Stores and Returns say what it does in the end.
	Stores, Returns bool
	// Then is what follows it in turn, if it cannot fail to be the way on, and leaves the marker's
	// variables what they are: that may stand for the marker when this leaves no code.
	Then *Follow
	// Before are lines before the marker on which something is called whenever the marker is
	// passed.
	Before []int
}

// Rule says what follows.
type Rule int

const (
	Next Rule = iota // a statement
	End              // the end of the function
)

// after returns what follows the marker that the rest of a block comes after.
func (w *walk) after(rest []ast.Stmt, end Follow, variables []string) Follow {
	for i, s := range rest {
		if w.marked(s) != nil || empty(s) {
			continue
		}
		switch x := s.(type) {
		case *ast.BlockStmt:
			return w.after(x.List, w.after(rest[i+1:], end, variables), variables)
		case *ast.LabeledStmt:
			if w.jumped[x.Label.Name] {
				return Follow{Reason: "the statement that follows has a label, by which it is also reached around it"}
			}
			s = x.Stmt
			if w.marked(s) != nil || empty(s) {
				continue
			}
		}
		h := w.header(s)
		if names, harmless := assigns(s); h.Reason == "" && harmless && !changes(names, variables) {
			then := w.after(rest[i+1:], end, variables)
			h.Then = &then
		}
		return h
	}
	return end
}

// changes reports whether one of the names is that of a variable, or of what it is a field of.
func changes(names, variables []string) bool {
	return slices.ContainsFunc(variables, func(v string) bool {
		root, _, _ := strings.Cut(v, ".")
		return slices.Contains(names, root)
	})
}

// empty reports whether a statement stands for nothing.
func empty(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return true
	case *ast.DeclStmt:
		d, ok := s.Decl.(*ast.GenDecl)
		return ok && d.Tok != token.VAR
	}
	return false
}

// header describes the part of a statement that is executed once, whenever the statement is:
// all of it, or what is ahead of its blocks.
func (w *walk) header(s ast.Stmt) Follow {
	f := Follow{Rule: Next}
	var parts []ast.Node
	var init ast.Stmt
	end := s.End()
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.AssignStmt, *ast.DeclStmt, *ast.GoStmt, *ast.DeferStmt:
		parts = []ast.Node{s}
		f.Stores = stores(s)
	case *ast.ReturnStmt:
		parts = []ast.Node{s}
		f.Returns = true
	case *ast.IfStmt:
		parts, end = append(parts, s.Cond), s.Cond.End()
		init = s.Init
	case *ast.SwitchStmt:
		if s.Tag == nil {
			return Follow{Reason: "a switch without a tag follows, of which the cases are all that is left"}
		}
		parts, end = append(parts, s.Tag), s.Tag.End()
		init = s.Init
	case *ast.ForStmt, *ast.RangeStmt:
		return Follow{Reason: "a loop follows, whose line is passed again with each round"}
	case *ast.BranchStmt:
		return Follow{Reason: "a " + s.Tok.String() + " follows, which leaves no code of its own"}
	default:
		return Follow{Reason: "what follows has no line of its own in the code"}
	}
	f.First, f.Last = w.file.line(s.Pos()), w.file.line(end)
	own := 1
	if init != nil {
		parts = append(parts, init)
		own++
	}
	for _, p := range parts {
		within(p, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.FuncLit: // its lines are of another function
				f.Last = f.First
			case *ast.BinaryExpr:
				f.Conditional = f.Conditional || n.Op == token.LAND || n.Op == token.LOR
			case *ast.CallExpr:
				if mayCall(n) {
					f.Calls++
				}
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					f.Calls++
				}
			case *ast.SendStmt:
				f.Calls++
			}
		})
	}
	if !w.alone(f.First, f.Last, own) {
		return Follow{Reason: "the statement that follows shares a line with another"}
	}
	return f
}

// alone reports whether lines first to last are those of a statement alone, which counts for
// so many: no other begins or ends there.
func (w *walk) alone(first, last, own int) bool {
	for line := first; line <= last; line++ {
		own -= w.file.begins[line]
	}
	return own == 0 && !w.file.ends[first]
}
