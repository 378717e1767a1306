package eval

import (
	"context"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

// state is the state of the hit that is executed.
type state struct {
	*Machine
	ctx        context.Context
	probe      *ir.Probe
	event      *event.Event
	now        int64
	locals     []machine.Value
	iterations int
	held       *held // where output goes, nil for the program's output
}

// Expressions and statements are compiled to closures. A number is an integer extended to 64 bits, a truth, a pointer or the raw
// bits of a float.
type (
	numberFunc func(*state) uint64
	valueFunc  func(*state) machine.Value
	stmtFunc   func(*state) flow
)

// flow is what is executed after a statement.
type flow uint8

const (
	next flow = iota
	breaks
	continues
	returns
)

// compiled is the compiled form of an action block.
type compiled struct {
	predicate numberFunc // nil without one
	body      []stmtFunc
	zero      []machine.Value // of the variables
	locals    []machine.Value
}

func (m *Machine) compile(c *ir.Code) *compiled {
	out := &compiled{locals: make([]machine.Value, len(c.Locals))}
	for i := range c.Locals {
		out.zero = append(out.zero, machine.Zero(&c.Locals[i]))
	}
	m.zero = out.zero
	if c.Predicate != nil {
		out.predicate = m.number(c.Predicate)
	}
	out.body = m.stmts(c.Body)
	return out
}

// run executes statements until one of them changes the flow.
func run(s *state, body []stmtFunc) flow {
	for _, f := range body {
		if to := f(s); to != next {
			return to
		}
	}
	return next
}

// maxIterations is the number of iterations of all loops of one hit: the kernel's limit for one loop.
const maxIterations = 8 << 20

// iterate counts an iteration. It returns false if the loop must end.
func (s *state) iterate(at int) bool {
	if s.iterations++; s.iterations > maxIterations {
		s.warnings.add(LoopLimit, at)
		return false
	}
	return s.iterations%1024 != 0 || s.ctx.Err() == nil
}

// number compiles an expression with a number.
func (m *Machine) number(x *ir.Expr) numberFunc {
	switch x.Op {
	case ir.ConstInt:
		v := uint64(x.Int)
		return func(*state) uint64 { return v }
	case ir.Local:
		i := x.Index
		return func(s *state) uint64 { return s.locals[i].Bits }
	case ir.Builtin:
		return m.builtin(x)
	case ir.Field:
		return m.field(x)
	case ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Shl, ir.Shr, ir.Div, ir.Mod:
		return m.arithmetic(x)
	case ir.Equal, ir.NotEqual, ir.Less, ir.LessEqual, ir.Greater, ir.GreaterEqual:
		return m.compare(x)
	case ir.AndAlso:
		a, b := m.number(x.Args[0]), m.number(x.Args[1])
		return func(s *state) uint64 { return bit(a(s) != 0 && b(s) != 0) }
	case ir.OrElse:
		a, b := m.number(x.Args[0]), m.number(x.Args[1])
		return func(s *state) uint64 { return bit(a(s) != 0 || b(s) != 0) }
	case ir.Not:
		a := m.number(x.Args[0])
		return func(s *state) uint64 { return bit(a(s) == 0) }
	case ir.Choose:
		cond, yes, no := m.number(x.Args[0]), m.number(x.Args[1]), m.number(x.Args[2])
		return func(s *state) uint64 {
			if cond(s) != 0 {
				return yes(s)
			}
			return no(s)
		}
	case ir.Convert:
		return m.convert(x)
	case ir.Elem:
		tuple, i := m.value(x.Args[0]), x.Index
		return func(s *state) uint64 { return tuple(s).Elems[i].Bits }
	case ir.StepLocal:
		i, by, t := x.Index, uint64(x.Int), x.Type
		slot, after := x.Args[0].Index, i == 1
		return func(s *state) uint64 {
			before := s.locals[slot].Bits
			s.locals[slot].Bits = t.Extend(before + by)
			if after {
				return s.locals[slot].Bits
			}
			return before
		}
	case ir.StrNCmp, ir.StrContains:
		return m.search(x)
	}
	return m.mapNumber(x)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (m *Machine) arithmetic(x *ir.Expr) numberFunc {
	a, b := m.number(x.Args[0]), m.number(x.Args[1])
	op, signed, at := x.Op, x.Signed, x.At
	switch op {
	case ir.Add:
		return func(s *state) uint64 { return a(s) + b(s) }
	case ir.Sub:
		return func(s *state) uint64 { return a(s) - b(s) }
	case ir.Div, ir.Mod:
		return func(s *state) uint64 {
			v, zero := ir.Arith(op, signed, a(s), b(s))
			if zero {
				s.warnings.add(DivisionByZero, at)
			}
			return v
		}
	}
	return func(s *state) uint64 {
		v, _ := ir.Arith(op, signed, a(s), b(s))
		return v
	}
}

func (m *Machine) compare(x *ir.Expr) numberFunc {
	op, signed := x.Op, x.Signed
	t, u := x.Args[0].Type, x.Args[1].Type
	switch {
	case t.Base == ir.Float || u.Base == ir.Float:
		return m.compareFloats(x)
	case t.Base == ir.String || t.Base == ir.Buffer || t.Base == ir.Tuple:
		a, b := m.value(x.Args[0]), m.value(x.Args[1])
		return func(s *state) uint64 {
			v, w := a(s), b(s)
			return bit(machine.EqualValues(&t, &v, &w) == (op == ir.Equal))
		}
	}
	a, b := m.number(x.Args[0]), m.number(x.Args[1])
	return func(s *state) uint64 { return bit(ir.Compare(op, signed, a(s), b(s))) }
}

// compareFloats compares two floats, or a float and a constant integer. NaN differs from everything.
func (m *Machine) compareFloats(x *ir.Expr) numberFunc {
	float := func(x *ir.Expr) func(*state) float64 {
		f, t := m.number(x), x.Type
		if t.Base != ir.Float {
			return func(s *state) float64 { return float64(int64(f(s))) }
		}
		return func(s *state) float64 { return machine.FloatOf(&t, f(s)) }
	}
	a, b, op := float(x.Args[0]), float(x.Args[1]), x.Op
	return func(s *state) uint64 {
		v, w := a(s), b(s)
		switch {
		case v < w:
			return bit(ir.Ordered(op, -1))
		case v > w:
			return bit(ir.Ordered(op, 1))
		case v == w:
			return bit(ir.Ordered(op, 0))
		}
		return bit(op == ir.NotEqual)
	}
}

// convert compiles a cast, and the number of an aggregation.
func (m *Machine) convert(x *ir.Expr) numberFunc {
	t, from := x.Type, x.Args[0]
	if from.Type.Base != ir.Agg {
		a := m.number(from)
		return func(s *state) uint64 { return t.Extend(a(s)) }
	}
	entry, agg := m.entry(from.Map, from.Args), from.Map.Value
	return func(s *state) uint64 {
		if e := entry(s); e != nil {
			return e.Agg.Number(&agg)
		}
		return 0
	}
}

// value compiles an expression of any type.
func (m *Machine) value(x *ir.Expr) valueFunc {
	switch x.Op {
	case ir.ConstText:
		v := machine.Value{Text: x.Text}
		return func(*state) machine.Value { return v }
	case ir.Local:
		i := x.Index
		return func(s *state) machine.Value { return s.locals[i] }
	case ir.LoadMap:
		entry, zero := m.entry(x.Map, x.Args), machine.Zero(&x.Map.Value)
		return func(s *state) machine.Value {
			if e := entry(s); e != nil {
				return e.Value
			}
			return zero
		}
	case ir.MakeTuple:
		var elems []valueFunc
		for _, a := range x.Args {
			elems = append(elems, m.value(a))
		}
		return func(s *state) machine.Value {
			v := machine.Value{Elems: make([]machine.Value, len(elems))}
			for i, f := range elems {
				v.Elems[i] = f(s)
			}
			return v
		}
	case ir.Elem:
		tuple, i := m.value(x.Args[0]), x.Index
		return func(s *state) machine.Value { return tuple(s).Elems[i] }
	case ir.Choose:
		cond, yes, no := m.number(x.Args[0]), m.value(x.Args[1]), m.value(x.Args[2])
		return func(s *state) machine.Value {
			if cond(s) != 0 {
				return yes(s)
			}
			return no(s)
		}
	case ir.Field:
		if x.Type.Base == ir.String || x.Type.Base == ir.Buffer {
			return m.fieldText(x)
		}
	case ir.Builtin:
		if f := m.builtinText(x); f != nil {
			return f
		}
	case ir.StrCut, ir.ToBuffer, ir.FormatTime:
		return m.textCall(x)
	}
	f := m.number(x)
	return func(s *state) machine.Value { return machine.Value{Bits: f(s)} }
}
