package gosource

import (
	"go/ast"
	"go/token"
	"slices"
)

// walk goes through one function of a file.
type walk struct {
	file *File
	name string // what the file calls package simple
	text []byte

	fn      *Function
	jumped  map[string]bool // labels that a goto leads to
	defers  bool
	markers map[*ast.CallExpr]*Marker
}

// markers notes the markers of the file, in the order of their lines.
func (f *File) markers(name string, text []byte) {
	f.values = &constants{file: f}
	for _, d := range f.syntax.Decls {
		w := &walk{file: f, name: name, text: text}
		if fn, ok := d.(*ast.FuncDecl); !ok {
			w.literals(d)
		} else if fn.Body != nil {
			w.function(f.at(fn, false), fn.Body)
		}
	}
	slices.SortStableFunc(f.Markers, func(a, b *Marker) int { return a.Line - b.Line })
}

// at returns what is known of the function that a node is.
func (f *File) at(n ast.Node, literal bool) *Function {
	line := f.line(n.Pos())
	for _, fn := range f.Functions {
		if fn.Line == line && fn.Literal == literal {
			return fn
		}
	}
	return nil
}

// literals goes through the function literals that are directly within n.
func (w *walk) literals(n ast.Node) {
	within(n, func(m ast.Node) {
		if lit, ok := m.(*ast.FuncLit); ok && m != n {
			inner := &walk{file: w.file, name: w.name, text: w.text}
			inner.function(w.file.at(lit, true), lit.Body)
		}
	})
}

func (w *walk) function(fn *Function, body *ast.BlockStmt) {
	w.fn, w.jumped, w.markers = fn, make(map[string]bool), make(map[*ast.CallExpr]*Marker)
	within(body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && n.Label != nil {
				w.jumped[n.Label.Name] = true
			}
		case *ast.DeferStmt:
			w.defers = true
		case *ast.CallExpr:
			if args, anchored := w.call(n); args >= 0 {
				m := w.marker(n, args, anchored)
				m.Last = w.file.line(n.End())
				m.Alone = w.alone(m.Line, m.Last, 1)
				m.Follow.Reason = "it is no statement of its own"
				w.markers[n] = m
				w.file.Markers = append(w.file.Markers, m)
			}
		}
	})
	end := Follow{Rule: End, First: w.file.line(body.Rbrace), Last: w.file.line(body.Rbrace)}
	switch {
	case w.defers:
		end = Follow{Reason: "it is the last in a function that defers, whose end is also reached around it"}
	case w.file.begins[end.First] > 0:
		end = Follow{Reason: "the end of the function, which follows, shares its line with a statement"}
	}
	w.list(body.List, end, nil)
	w.literals(body)
}

// marked returns the marker that a statement is, nil for others.
func (w *walk) marked(s ast.Stmt) *Marker {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, _ := e.X.(*ast.CallExpr)
	return w.markers[call]
}

// list goes through the statements of a block. end stands for what follows them, and before
// are lines on which something is called whenever the block is entered.
func (w *walk) list(list []ast.Stmt, end Follow, before []int) {
	for i, s := range list {
		if m := w.marked(s); m != nil {
			m.Follow = w.after(list[i+1:], end, m.Variables)
			m.Follow.Before = slices.Clone(before)
			continue
		}
		w.blocks(s, list[i+1:], end, before)
		if label, ok := s.(*ast.LabeledStmt); ok && w.jumped[label.Label.Name] {
			before = nil // what is behind the label is reached around what is before it
		}
		if h := w.header(s); h.Reason == "" && h.Calls > 0 && !h.Conditional {
			before = append(slices.Clip(before), h.First)
		}
	}
}

// shared stands for what follows a block that is not the function's.
var shared = Follow{Reason: "it is the last in its block, and what follows is also reached around it"}

// blocks goes through the blocks within a statement.
func (w *walk) blocks(s ast.Stmt, rest []ast.Stmt, end Follow, before []int) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		// What follows a plain block follows its last statement.
		w.list(s.List, w.after(rest, end, nil), before)
	case *ast.LabeledStmt:
		if m := w.marked(s.Stmt); m != nil {
			if m.Follow = w.after(rest, end, m.Variables); w.jumped[s.Label.Name] {
				before = nil
			}
			m.Follow.Before = slices.Clone(before)
			return
		}
		if w.jumped[s.Label.Name] {
			before = nil
		}
		w.blocks(s.Stmt, rest, end, before)
	case *ast.IfStmt:
		w.list(s.Body.List, shared, before)
		if s.Else != nil {
			w.blocks(s.Else, nil, shared, before)
		}
	case *ast.ForStmt:
		w.list(s.Body.List, shared, before)
	case *ast.RangeStmt:
		w.list(s.Body.List, shared, before)
	case *ast.SwitchStmt:
		w.clauses(s.Body, before)
	case *ast.TypeSwitchStmt:
		w.clauses(s.Body, before)
	case *ast.SelectStmt:
		w.clauses(s.Body, before)
	}
}

func (w *walk) clauses(body *ast.BlockStmt, before []int) {
	for _, s := range body.List {
		switch c := s.(type) {
		case *ast.CaseClause:
			w.list(c.Body, shared, before)
		case *ast.CommClause:
			w.list(c.Body, shared, before)
		}
	}
}
