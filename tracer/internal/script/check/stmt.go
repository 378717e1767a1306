package check

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// maxUnroll is the largest count of unroll.
const maxUnroll = 1000

// block checks statements in a scope of their own.
func (k *code) block(list []*syntax.Stmt) []*ir.Stmt {
	k.open()
	defer k.close()
	out := []*ir.Stmt{}
	for _, s := range list {
		if t := k.stmt(s); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// loop checks the body of a loop.
func (k *code) loop(list []*syntax.Stmt) []*ir.Stmt {
	k.loops++
	defer func() { k.loops-- }()
	return k.block(list)
}

func (k *code) stmt(s *syntax.Stmt) *ir.Stmt {
	out := &ir.Stmt{At: s.Begin}
	switch s.Kind {
	case syntax.ExprStmt:
		return k.exprStmt(s, out)
	case syntax.AssignStmt:
		return k.assignStmt(s, out)
	case syntax.LetStmt:
		return k.letStmt(s, out)
	case syntax.IfStmt:
		out.Op, out.X = ir.If, k.truthOf(s.X, "a condition")
		out.Body, out.Else = k.block(s.Body), k.block(s.Else)
	case syntax.WhileStmt:
		out.Op, out.X = ir.While, k.truthOf(s.X, "a condition")
		out.Body = k.loop(s.Body)
	case syntax.RangeStmt:
		k.rangeStmt(s, out)
	case syntax.MapRangeStmt:
		k.eachStmt(s, out)
	case syntax.UnrollStmt:
		out.Op = ir.Repeat
		if out.Int = k.constant(s.X, "the count of unroll", 1, maxUnroll); out.Int < 1 {
			out.Int = 1
		}
		out.Body = k.block(s.Body)
	case syntax.BlockStmt:
		out.Op, out.Body = ir.Block, k.block(s.Body)
	case syntax.BreakStmt, syntax.ContinueStmt:
		if out.Op = ir.Break; s.Kind == syntax.ContinueStmt {
			out.Op = ir.Continue
		}
		if k.loops == 0 {
			k.fail(s.Span, "return ends the action block", "break or continue outside of a loop")
		}
	case syntax.ReturnStmt:
		out.Op = ir.Return
	}
	return out
}

func (k *code) rangeStmt(s *syntax.Stmt, out *ir.Stmt) {
	from, to := k.integer(s.X), k.integer(s.To)
	out.Op, out.X, out.To = ir.Range, from, to
	k.open()
	defer k.close()
	k.shadow(s.Target)
	l := k.declare(s.Target)
	t, _ := ir.Promote(from.Type, to.Type)
	k.assign(l, s.Target.Name, s.Target.Span, &ir.Expr{Type: t})
	out.Index = l.slot
	out.Signed = t.Signed
	out.Body = k.loop(s.Body)
}

func (k *code) eachStmt(s *syntax.Stmt, out *ir.Stmt) {
	m := k.mapOf(s.X.Name)
	out.Op, out.Map = ir.Each, m
	k.keyed(m, s.X.Span, "for needs keys")
	if m.Value.Base == ir.Unknown && k.final && !k.target.Open {
		k.undefined(m, s.X.Span)
	}
	k.open()
	defer k.close()
	k.shadow(s.Target)
	l := k.declare(s.Target)
	value := m.Value.Number()
	if m.Value.IsHistogram() || m.Value.Base == ir.Agg && m.Value.Agg == ir.Stats {
		k.fail(s.X.Span, "print the map instead", "for over a map of %s", m.Value.Agg)
		value = ir.Int64Type
	}
	if m.Key.Base != ir.Unknown && m.Value.Base != ir.Unknown {
		t := ir.Type{Base: ir.Tuple, Elems: []ir.Type{m.Key, value}}
		k.assign(l, s.Target.Name, s.Target.Span, &ir.Expr{Type: t})
	}
	out.Index = l.slot
	out.Body = k.loop(s.Body)
}

// shadow refuses a variable that hides another one.
func (k *code) shadow(x *syntax.Expr) {
	if k.lookup(x.Name) != nil {
		k.fail(x.Span, "use another name", "%s hides a variable of an outer block", x.Name)
	}
}

func (k *code) letStmt(s *syntax.Stmt, out *ir.Stmt) *ir.Stmt {
	var x *ir.Expr
	if s.X != nil {
		x = k.value(s.X)
	}
	k.shadow(s.Target)
	l := k.declare(s.Target)
	if s.Type != "" {
		l.fixed = true
		t := namedType(s.Type, k.config.MaxText)
		k.locals[l.key], k.slots[l.slot] = t, t
	}
	out.Op, out.Index = ir.SetLocal, l.slot
	if x == nil { // in a loop the variable is zero again
		return out
	}
	out.X = k.assign(l, s.Target.Name, s.Span, x)
	return out
}

// namedType returns the type with a name that the parser accepts.
func namedType(name string, maxText int) ir.Type {
	switch name {
	case "bool":
		return ir.BoolType
	case "string":
		return ir.Text(maxText)
	}
	t := ir.Type{Base: ir.Int, Signed: name[0] == 'i'}
	switch name[len(name)-1] {
	case '8':
		t.Bits = 8
	case '6':
		t.Bits = 16
	case '2':
		t.Bits = 32
	default:
		t.Bits = 64
	}
	return t
}

func (k *code) assignStmt(s *syntax.Stmt, out *ir.Stmt) *ir.Stmt {
	if s.Target.Kind == syntax.MapExpr {
		return k.assignMap(s, out)
	}
	out.Op = ir.SetLocal
	l := k.lookup(s.Target.Name)
	x := s.X
	if s.Op != "=" {
		if l == nil {
			k.fail(s.Target.Span, "assign to it before", "%s has no value yet", s.Target.Name)
			return nil
		}
		x = &syntax.Expr{Kind: syntax.BinaryExpr, Span: s.Span, Name: s.Op[:len(s.Op)-1], Args: []*syntax.Expr{s.Target, s.X}}
	}
	v := k.value(x)
	if l == nil {
		l = k.declare(s.Target)
	}
	out.Index = l.slot
	out.X = k.assign(l, s.Target.Name, s.Span, v)
	return out
}

func (k *code) exprStmt(s *syntax.Stmt, out *ir.Stmt) *ir.Stmt {
	x := s.X
	if x.Kind == syntax.CallExpr {
		if call, ok := actions[x.Name]; ok {
			call(k, x, out)
			return out
		}
		if _, ok := ir.Aggregates[x.Name]; ok {
			k.fail(x.Span, "such as @name[key] = "+x.Name+"(…)", "%s() is assigned to a map", x.Name)
			return nil
		}
	}
	if x.Kind == syntax.TernaryExpr && isAction(x.Args[1]) {
		k.fail(x.Span, "use if (CONDITION) { … } else { … }", "ternary operator with statements")
		return nil
	}
	out.Op, out.X = ir.Do, k.value(x)
	if x.Kind == syntax.CallExpr && x.Name == "delete" && s.Op != "_" {
		out.Int = 1 // a missing key is reported, because the result is not used
	}
	return out
}

func isAction(x *syntax.Expr) bool {
	_, ok := actions[x.Name]
	return ok && x.Kind == syntax.CallExpr
}
