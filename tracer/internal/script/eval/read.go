package eval

import (
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

// builtin compiles a built-in value that is a number.
func (m *Machine) builtin(x *ir.Expr) numberFunc {
	switch x.Which {
	case ir.PID:
		return func(s *state) uint64 { return uint64(uint32(s.event.PID)) }
	case ir.TID:
		if !x.Key {
			return func(s *state) uint64 { return uint64(uint32(s.event.TID)) }
		}
		at := x.At
		return func(s *state) uint64 {
			if s.event.Goroutine != 0 {
				s.warnings.add(ThreadKey, at)
			}
			return uint64(uint32(s.event.TID))
		}
	case ir.CPU:
		return func(s *state) uint64 { return uint64(s.event.CPU) }
	case ir.Goroutine:
		return func(s *state) uint64 { return uint64(s.event.Goroutine) }
	case ir.Elapsed:
		return func(s *state) uint64 { return uint64(s.now - s.begin) }
	}
	return func(s *state) uint64 { return uint64(s.now) }
}

// builtinText compiles a built-in value that is a text, and returns nil for others.
func (m *Machine) builtinText(x *ir.Expr) valueFunc {
	switch x.Which {
	case ir.Comm:
		size := x.Type.Size
		return func(s *state) machine.Value {
			v := machine.TextValue(s.event.Comm, size)
			v.Cut = false // the kernel cuts names of threads, too
			return v
		}
	case ir.ProbeName:
		return func(s *state) machine.Value { return machine.Value{Text: s.probe.Name} }
	case ir.ProbeType:
		return func(s *state) machine.Value { return machine.Value{Text: s.probe.Type} }
	}
	return nil
}

// raw returns the value of a field, nil if the event has none.
func (s *state) raw(i, at int) *event.Value {
	if i < len(s.event.Values) {
		if v := &s.event.Values[i]; v.Err() == nil && v.Kind() != event.Invalid {
			return v
		}
	}
	s.warnings.add(Unreadable, at)
	return nil
}

// field compiles a field that is a number.
func (m *Machine) field(x *ir.Expr) numberFunc {
	i, at, t := x.Index, x.At, x.Type
	float := t.Base == ir.Float
	return func(s *state) uint64 {
		v := s.raw(i, at)
		switch {
		case v == nil:
			return 0
		case v.Kind().HasLength() || v.Kind().IsFloat() != float || float && 8*v.Kind().Size() != t.Bits:
			s.warnings.add(Unreadable, at) // this site passes another type
			return 0
		}
		return t.Extend(v.Bits())
	}
}

// fieldText compiles a field that is a text or bytes.
func (m *Machine) fieldText(x *ir.Expr) valueFunc {
	i, at, size, buffer := x.Index, x.At, x.Type.Size, x.Type.Base == ir.Buffer
	return func(s *state) machine.Value {
		v := s.raw(i, at)
		switch {
		case v == nil:
			return machine.Value{}
		case !v.Kind().HasLength():
			s.warnings.add(Unreadable, at)
			return machine.Value{}
		case buffer:
			kept := v.Bytes()
			return machine.Value{Text: string(kept[:min(len(kept), size)]), Cut: v.Cut() || len(kept) > size}
		}
		text := machine.TextValue(string(v.Bytes()), size)
		if len(text.Text) == len(v.Bytes()) {
			text.Cut = text.Cut || v.Cut()
		}
		return text
	}
}

// search compiles strncmp and strcontains.
func (m *Machine) search(x *ir.Expr) numberFunc {
	a, b, n := m.value(x.Args[0]), m.value(x.Args[1]), int(x.Int)
	if x.Op == ir.StrContains {
		return func(s *state) uint64 { return bit(strings.Contains(a(s).Text, b(s).Text)) }
	}
	return func(s *state) uint64 {
		v, w := a(s).Text, b(s).Text
		return bit(v[:min(n, len(v))] != w[:min(n, len(w))])
	}
}

// textCall compiles str, buf and strftime.
func (m *Machine) textCall(x *ir.Expr) valueFunc {
	if x.Op == ir.FormatTime {
		nanos, format := m.number(x.Args[0]), x.Text
		return func(s *state) machine.Value {
			return machine.Value{Text: string(machine.AppendTime(nil, format, s.options.Wall(int64(nanos(s)))))}
		}
	}
	from, limit := m.value(x.Args[0]), int(x.Int)
	size := func(*state) int { return limit }
	if len(x.Args) > 1 {
		n, signed := m.number(x.Args[1]), x.Args[1].Type.Signed
		size = func(s *state) int {
			v := n(s)
			if signed && int64(v) < 0 {
				return 0
			}
			return int(min(v, uint64(limit)))
		}
	}
	if x.Op == ir.ToBuffer {
		return func(s *state) machine.Value {
			v, n := from(s), size(s)
			if len(v.Text) > n {
				v.Text, v.Cut = v.Text[:n], false
			}
			return v
		}
	}
	return func(s *state) machine.Value {
		v, n := from(s), size(s)
		cut := machine.TextValue(v.Text, max(n, 1))
		if n < limit && cut.Cut {
			cut.Cut = false // the script asked for no more
		} else if len(cut.Text) == len(v.Text) {
			cut.Cut = v.Cut
		}
		return cut
	}
}
