package recorder

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// program is a condition bound to the arguments of one marker.
type program struct {
	bound *filter.Filter
	tests []filter.Test
	vars  []variable
}

// variable is where a value comes from: the arguments, or a constant.
type variable struct {
	offset   uintptr
	kind     event.Kind
	source   source
	constant uint64
}

type source uint8

const (
	fromArguments source = iota
	fromConstant
	fromGoroutine
)

// compile binds a condition to the arguments of an event, which lie where from says.
func compile(where *filter.Expr, m *point.Recordable, e *ring.Event, from []uintptr) (*program, error) {
	p := &program{}
	var err error
	p.bound, err = where.Bind(func(name string) (event.Kind, error) {
		v, err := lookup(m, e, from, name)
		p.vars = append(p.vars, v)
		return v.kind, err
	})
	if err != nil {
		return nil, err
	}
	p.tests = p.bound.Tests()
	if point.NumberOffset() == 0 && slices.ContainsFunc(p.vars, func(v variable) bool { return v.source == fromGoroutine }) {
		p.tests = []filter.Test{{Node: p.bound.Root, Yes: filter.Accept, No: filter.Reject}} // which knows that it has no value
	}
	return p, nil
}

// couldBind checks the names of a condition against those of a point's arguments, when the types are not known yet.
func (s *Session) couldBind(m *point.Recordable) error {
	if s.where == nil {
		return nil
	}
	names, err := m.Names()
	if err != nil {
		return point.Wrap(recordingOf(m), err)
	}
	e := &ring.Event{}
	for _, n := range names {
		e.Fields = append(e.Fields, event.Field{Name: n})
	}
	_, err = s.where.Bind(func(name string) (event.Kind, error) {
		v, err := lookup(m, e, make([]uintptr, len(names)), name)
		return v.kind, err
	})
	if err != nil {
		return point.Wrap(recordingOf(m), err)
	}
	return nil
}

// lookup resolves a name of a condition: a field, argN, or what every event has in the process.
func lookup(m *point.Recordable, e *ring.Event, from []uintptr, name string) (variable, error) {
	i := slices.IndexFunc(e.Fields, func(f event.Field) bool { return f.Name == name })
	if n := event.ArgNumber(name); i < 0 && 0 < n && n <= len(e.Fields) {
		i = n - 1
	}
	switch {
	case i >= 0 && e.Fields[i].Unavailable != "":
		return variable{}, &filter.Error{Reason: fmt.Sprintf("%s of %s has no value: %s", name, m.Name, e.Fields[i].Unavailable)}
	case i >= 0:
		return variable{offset: from[i], kind: e.Fields[i].Kind}, nil
	case name == "pid":
		return variable{kind: event.Int64, source: fromConstant, constant: uint64(os.Getpid())}, nil
	case name == "goroutine" || name == "gid":
		return variable{kind: event.Int64, source: fromGoroutine}, nil
	case name == "comm" || name == "tid" || name == "cpu":
		return variable{}, &filter.Error{Reason: name + " is not known inside the program", Hint: "the kernel engine knows it: --engine kernel"}
	}
	own := "it has no fields"
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		own = "it has " + strings.Join(names, ", ")
	}
	return variable{}, &filter.Error{
		Reason: fmt.Sprintf("%s has no field %s", m.Name, name),
		Hint:   own + "; every event has pid and goroutine",
	}
}

// holds decides the condition for the arguments of a pass. It allocates nothing, and what it costs is bounded by
// the limits of conditions: 256 operators, and 1016 bytes of each of 16 texts.
//
//go:norace
func (p *program) holds(args unsafe.Pointer) bool {
	for at := 0; ; {
		t := &p.tests[at]
		var holds bool
		if t.Node != nil {
			holds = p.evaluate(t.Node, args)
		} else if v := &p.vars[t.Var]; v.source == fromArguments {
			holds = bitsAt(v.kind, unsafe.Add(args, v.offset))-t.Low <= t.Span
		} else {
			x, ok := p.value(t.Var, args)
			holds = ok && x.Bits-t.Low <= t.Span
		}
		if at = t.No; holds {
			at = t.Yes
		}
		if at < 0 {
			return at == filter.Accept
		}
	}
}

// evaluate decides what takes more than a look at one number.
//
//go:norace
//go:noinline
func (p *program) evaluate(n *filter.Node, args unsafe.Pointer) bool {
	return p.bound.EvalNode(n, func(i int) (filter.Value, bool) { return p.value(i, args) })
}

//go:norace
func (p *program) value(i int, args unsafe.Pointer) (filter.Value, bool) {
	v := &p.vars[i]
	switch v.source {
	case fromConstant:
		return filter.Value{Bits: v.constant}, true
	case fromGoroutine:
		return filter.Value{Bits: goroutine()}, point.NumberOffset() != 0
	}
	return valueAt(v.kind, unsafe.Add(args, v.offset)), true
}

func goroutine() uint64 {
	if point.NumberOffset() == 0 {
		return 0 // what there is besides takes microseconds
	}
	return point.Goroutine()
}

// valueAt reads an argument.
//
//go:norace
func valueAt(k event.Kind, p unsafe.Pointer) filter.Value {
	if !k.HasLength() {
		return filter.Value{Bits: bitsAt(k, p)}
	}
	// A text: patterns read its first bytes, and its length tells them whether that is all.
	n := min(*(*int)(unsafe.Add(p, word)), filter.MaxText+1)
	return filter.Value{Text: unsafe.Slice(*(**byte)(p), n)}
}

// bitsAt reads an argument that is no text, extended to 64 bits.
//
//go:norace
func bitsAt(k event.Kind, p unsafe.Pointer) uint64 {
	switch k {
	case event.Bool, event.Uint8:
		return uint64(*(*uint8)(p))
	case event.Int8:
		return uint64(*(*int8)(p))
	case event.Int16:
		return uint64(*(*int16)(p))
	case event.Uint16:
		return uint64(*(*uint16)(p))
	case event.Int32:
		return uint64(*(*int32)(p))
	case event.Uint32, event.Float32:
		return uint64(*(*uint32)(p))
	case event.Int:
		return uint64(*(*int)(p))
	case event.Uint, event.Uintptr, event.Pointer:
		return uint64(*(*uint)(p))
	}
	return *(*uint64)(p)
}
