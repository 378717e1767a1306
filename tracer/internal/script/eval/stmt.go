package eval

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

func (m *Machine) stmts(list []*ir.Stmt) []stmtFunc {
	out := make([]stmtFunc, 0, len(list))
	for _, x := range list {
		out = append(out, m.stmt(x))
	}
	return out
}

func (m *Machine) stmt(x *ir.Stmt) stmtFunc {
	switch x.Op {
	case ir.Do:
		return m.do(x)
	case ir.SetLocal:
		i := x.Index
		if x.X == nil {
			zero := m.zero[i]
			return func(s *state) flow { s.locals[i] = zero; return next }
		}
		value := m.value(x.X)
		return func(s *state) flow { s.locals[i] = value(s); return next }
	case ir.SetMap, ir.UpdateMap, ir.Aggregate, ir.ClearMap, ir.ZeroMap:
		return m.mapStmt(x)
	case ir.If:
		cond, body, other := m.number(x.X), m.stmts(x.Body), m.stmts(x.Else)
		return func(s *state) flow {
			if cond(s) != 0 {
				return run(s, body)
			}
			return run(s, other)
		}
	case ir.While, ir.Range, ir.Each, ir.Repeat:
		return m.loop(x)
	case ir.Block:
		body := m.stmts(x.Body)
		return func(s *state) flow { return run(s, body) }
	case ir.Break:
		return func(*state) flow { return breaks }
	case ir.Continue:
		return func(*state) flow { return continues }
	case ir.Return:
		return func(*state) flow { return returns }
	case ir.Exit:
		status := func(*state) uint64 { return 0 }
		if x.X != nil {
			status = m.number(x.X)
		}
		return func(s *state) flow {
			s.status = int(uint8(status(s)))
			s.exited = true
			return returns
		}
	}
	return m.output(x)
}

// do compiles an expression without its value.
func (m *Machine) do(x *ir.Stmt) stmtFunc {
	if t := x.X.Type.Base; t == ir.String || t == ir.Buffer || t == ir.Tuple || t == ir.Time {
		value := m.value(x.X)
		return func(s *state) flow { value(s); return next }
	}
	number, reports, at := m.number(x.X), x.Int != 0, x.At
	return func(s *state) flow {
		if number(s) == 0 && reports {
			s.warnings.add(NoKey, at)
		}
		return next
	}
}

// loop compiles a loop. The variables of its body keep their values from one iteration to the next, as their slots do; the checker
// lets no iteration read them before it assigns them.
func (m *Machine) loop(x *ir.Stmt) stmtFunc {
	body, at, i := m.stmts(x.Body), x.At, x.Index
	// once executes the body once, and reports whether the loop goes on.
	once := func(s *state) (flow, bool) {
		switch to := run(s, body); to {
		case returns:
			return returns, false
		case breaks:
			return next, false
		}
		return next, true
	}
	switch x.Op {
	case ir.While:
		cond := m.number(x.X)
		return func(s *state) flow {
			for cond(s) != 0 && s.iterate(at) {
				if to, on := once(s); !on {
					return to
				}
			}
			return next
		}
	case ir.Range:
		from, to, signed := m.number(x.X), m.number(x.To), x.Signed
		return func(s *state) flow {
			v, end := from(s), to(s)
			for ; ir.Compare(ir.Less, signed, v, end) && s.iterate(at); v++ {
				s.locals[i] = machine.Value{Bits: v}
				if to, on := once(s); !on {
					return to
				}
			}
			return next
		}
	case ir.Each:
		return m.each(x, once)
	}
	count := x.Int
	return func(s *state) flow { // Repeat: break and continue belong to the loop around it
		for n := int64(0); n < count && s.iterate(at); n++ {
			if to := run(s, body); to != next {
				return to
			}
		}
		return next
	}
}

// each compiles a loop over the keys that the map has at its beginning, in their order. Keys that are deleted before their turn are
// skipped.
func (m *Machine) each(x *ir.Stmt, once func(*state) (flow, bool)) stmtFunc {
	k, i, at, t := x.Map.Index, x.Index, x.At, x.Map.Value
	return func(s *state) flow {
		for _, e := range s.maps[k].ByKey() {
			if e = s.maps[k].Find(&e.Key); e == nil {
				continue
			}
			if !s.iterate(at) {
				return next
			}
			value := e.Value
			if e.Agg != nil {
				value = machine.Value{Bits: e.Agg.Number(&t)}
			}
			s.locals[i] = machine.Value{Elems: []machine.Value{e.Key, value}}
			if to, on := once(s); !on {
				return to
			}
		}
		return next
	}
}
