package eval

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

// key compiles the key of a map; of a scalar it is empty.
func (m *Machine) key(args []*ir.Expr) valueFunc {
	if len(args) == 0 || args[0] == nil {
		return func(*state) machine.Value { return machine.Value{} }
	}
	return m.value(args[0])
}

// entry compiles the look-up of a key.
func (m *Machine) entry(x *ir.Map, args []*ir.Expr) func(*state) *machine.Entry {
	key, i := m.key(args), x.Index
	return func(s *state) *machine.Entry {
		k := key(s)
		return s.maps[i].Find(&k)
	}
}

// mapNumber compiles operations on maps that have a number as their result.
func (m *Machine) mapNumber(x *ir.Expr) numberFunc {
	i := x.Map.Index
	switch x.Op {
	case ir.StepMap:
		key, by, after := m.key(x.Args), uint64(x.Int), x.Index == 1
		return func(s *state) uint64 {
			k := key(s)
			before := uint64(0)
			if e := s.maps[i].Make(&k); e != nil {
				before = e.Value.Bits
				e.Value.Bits += by
			}
			if after {
				return before + by
			}
			return before
		}
	case ir.DeleteKey:
		key := m.key(x.Args)
		return func(s *state) uint64 {
			k := key(s)
			return bit(s.maps[i].Delete(&k))
		}
	case ir.HasKey:
		entry := m.entry(x.Map, x.Args)
		return func(s *state) uint64 { return bit(entry(s) != nil) }
	case ir.MapLen:
		return func(s *state) uint64 { return uint64(s.maps[i].Len()) }
	case ir.LostKeys:
		return func(s *state) uint64 { return s.maps[i].Lost }
	case ir.Percentile:
		entry, t, percent := m.entry(x.Map, x.Args), x.Map.Value, x.Int
		return func(s *state) uint64 {
			if e := entry(s); e != nil {
				return uint64(e.Agg.Percentile(&t, percent))
			}
			return 0
		}
	}
	entry := m.entry(x.Map, x.Args) // LoadMap
	return func(s *state) uint64 {
		if e := entry(s); e != nil {
			return e.Value.Bits
		}
		return 0
	}
}

// mapStmt compiles statements that change a map.
func (m *Machine) mapStmt(x *ir.Stmt) stmtFunc {
	i := x.Map.Index
	switch x.Op {
	case ir.ClearMap:
		return func(s *state) flow { s.maps[i].Clear(); return next }
	case ir.ZeroMap:
		return func(s *state) flow { s.maps[i].SetZero(); return next }
	}
	key := m.key([]*ir.Expr{x.Key})
	t := x.Map.Value
	switch x.Op {
	case ir.SetMap:
		value := m.value(x.X)
		return func(s *state) flow {
			v := value(s)
			k := key(s)
			if e := s.maps[i].Make(&k); e != nil {
				e.Value = v
			}
			return next
		}
	case ir.UpdateMap:
		value, op, signed, at := m.number(x.X), x.Binary, x.Signed, x.At
		return func(s *state) flow {
			v := value(s)
			k := key(s)
			if e := s.maps[i].Make(&k); e != nil {
				w, zero := ir.Arith(op, signed, e.Value.Bits, v)
				if zero {
					s.warnings.add(DivisionByZero, at)
				}
				e.Value.Bits = t.Extend(w)
			}
			return next
		}
	}
	value := func(*state) uint64 { return 0 }
	if x.X != nil {
		value = m.number(x.X)
	}
	return func(s *state) flow { // Aggregate
		v := value(s)
		k := key(s)
		if e := s.maps[i].Make(&k); e != nil {
			e.Agg.Add(&t, v, s.now)
		}
		return next
	}
}
