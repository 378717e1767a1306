package eval

import (
	"fmt"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

// output compiles statements that write something.
func (m *Machine) output(x *ir.Stmt) stmtFunc {
	switch x.Op {
	case ir.Printf, ir.Errorf, ir.Warnf, ir.System:
		return m.printf(x)
	case ir.Print:
		return m.print(x)
	case ir.PrintMap:
		i, top, div := x.Map.Index, int(x.Int), x.Div
		return func(s *state) flow {
			s.emit(s.printer.AppendMap(s.buf[:0], s.maps[i], top, div, true))
			return next
		}
	case ir.PrintTime:
		format := x.Text
		return func(s *state) flow {
			text := machine.AppendTime(nil, format, s.options.Wall(s.now))
			s.emit(s.printer.AppendText(s.buf[:0], "time", string(text)))
			return next
		}
	}
	return m.speculation(x)
}

func (m *Machine) print(x *ir.Stmt) stmtFunc {
	t := x.X.Type
	if t.Base == ir.Agg {
		entry := m.entry(x.X.Map, x.X.Args)
		return func(s *state) flow {
			e := entry(s)
			if e == nil {
				e = &machine.Entry{Agg: &machine.Aggregate{}}
			}
			s.emit(s.printer.AppendPrint(s.buf[:0], &t, e))
			return next
		}
	}
	value := m.value(x.X)
	return func(s *state) flow {
		s.emit(s.printer.AppendPrint(s.buf[:0], &t, &machine.Entry{Value: value(s)}))
		return next
	}
}

// printf compiles printf, errorf, warnf and system.
func (m *Machine) printf(x *ir.Stmt) stmtFunc {
	var args []valueFunc
	var types []ir.Type
	for _, a := range x.Args {
		args, types = append(args, m.value(a)), append(types, a.Type)
	}
	values := make([]machine.Value, len(args))
	format, op, at := x.Format, x.Op, x.At
	var text []byte
	return func(s *state) flow {
		for i, f := range args {
			values[i] = f(s)
		}
		dropped := false
		if text, dropped = machine.AppendFormat(text[:0], format, types, values, &s.printer.Style); dropped {
			s.warnings.add(Dropped, at)
		}
		switch op {
		case ir.Printf:
			s.emit(s.printer.AppendText(s.buf[:0], "printf", string(text)))
		case ir.Errorf:
			s.message("ERROR", at, string(text))
		case ir.Warnf:
			s.message("WARN", at, string(text))
		default:
			s.system(at, string(text))
		}
		return next
	}
}

// system runs a command and writes its output.
func (s *state) system(at int, command string) {
	out, err := s.options.System(s.ctx, command)
	if err != nil {
		s.message("WARN", at, fmt.Sprintf("system: %v", err))
	}
	if len(out) > 0 {
		s.emit(s.printer.AppendText(s.buf[:0], "syscall", string(out)))
	}
}

// speculation compiles speculate, commit and discard.
func (m *Machine) speculation(x *ir.Stmt) stmtFunc {
	key, t, at := m.value(x.X), x.X.Type, x.At
	var b []byte
	encode := func(s *state) []byte {
		v := key(s)
		b = machine.AppendKey(b[:0], &t, &v)
		return b
	}
	switch x.Op {
	case ir.Speculate:
		return func(s *state) flow {
			k := encode(s)
			h := s.Machine.held[string(k)]
			if h == nil {
				h = &held{}
				if len(s.Machine.held) < s.program.Config.MaxMapKeys {
					s.Machine.held[string(k)] = h
				} else {
					s.warnings.add(HeldFull, at)
				}
			}
			s.held = h
			return next
		}
	case ir.Commit:
		return func(s *state) flow {
			k := encode(s)
			if h := s.Machine.held[string(k)]; h != nil {
				delete(s.Machine.held, string(k))
				s.held = nil
				s.emit(h.text)
			}
			return next
		}
	}
	return func(s *state) flow {
		delete(s.Machine.held, string(encode(s)))
		return next
	}
}
