package gosource

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// call returns what a call of package simple marks with, -1 for other calls.
func (w *walk) call(e *ast.CallExpr) (args int, anchored bool) {
	fun := e.Fun
	switch x := fun.(type) { // written with its types, simple.Mark1[int](…)
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	id, _ := fun.(*ast.Ident)
	if w.name != "" {
		sel, ok := fun.(*ast.SelectorExpr)
		if !ok {
			return -1, false
		}
		if x, ok := sel.X.(*ast.Ident); !ok || x.Name != w.name {
			return -1, false
		}
		id = sel.Sel
	}
	if id == nil {
		return -1, false
	}
	for _, prefix := range []string{"Mark", "Anchor"} {
		if n, ok := strings.CutPrefix(id.Name, prefix); ok && len(n) == 1 && '0' <= n[0] && n[0] <= '8' {
			return int(n[0] - '0'), prefix == "Anchor"
		}
	}
	return -1, false
}

// marker reads one marker.
func (w *walk) marker(e *ast.CallExpr, args int, anchored bool) *Marker {
	f := w.file
	m := &Marker{Line: f.line(e.Pos()), Anchored: anchored, Function: w.fn}
	if len(e.Args) != args+2 || e.Ellipsis.IsValid() {
		m.Problem = fmt.Sprintf("it has %d arguments, not name, format and %d more", len(e.Args), args)
		return m
	}
	var err error
	if m.Name, err = f.values.text(e.Args[0]); err != nil {
		m.Problem = "its name is " + err.Error()
		return m
	}
	if m.Description, err = f.values.text(e.Args[1]); err != nil {
		m.Problem = "its format is " + err.Error()
		return m
	}
	for _, a := range e.Args[2:] {
		from, to := f.set.PositionFor(a.Pos(), false).Offset, f.set.PositionFor(a.End(), false).Offset
		m.Variables = append(m.Variables, strings.Join(strings.Fields(string(w.text[from:to])), " "))
	}
	m.check()
	return m
}

// check notes what vet would say: the name is one, and each argument has its verb.
func (m *Marker) check() {
	if err := event.CheckSimpleName(m.Name); err != nil {
		m.Problem = err.Error()
	} else if verbs, err := event.Verbs(m.Description); err != nil {
		m.Problem = err.Error()
	} else if len(verbs) != len(m.Variables) {
		m.Problem = fmt.Sprintf("format %q has %d verbs for %d arguments", m.Description, len(verbs), len(m.Variables))
	}
}
