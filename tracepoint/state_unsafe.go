package tracepoint

import (
	"errors"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// state holds the data that a tracepoint needs once it is used.
type state struct {
	point.State

	// declared is nil until the argument types are known. Only code of the tracepoint's own type
	// knows them: its Register, and its slow path while it is recorded.
	declared atomic.Pointer[declaration]
}

// declaration is the checked combination of a tracepoint's name, its arguments' names and types.
type declaration struct {
	fields []event.Field
	err    error // why it is invalid, or nil
}

// loaded returns the tracepoint's state, nil before its first use.
func (m *Tracepoint) loaded() *state { return (*state)(atomic.LoadPointer(&m.state)) }

// stateOf returns the tracepoint's state, making it at first use.
func (m *Tracepoint) stateOf() *state {
	if s := m.loaded(); s != nil {
		return s
	}
	atomic.CompareAndSwapPointer(&m.state, nil, unsafe.Pointer(&state{}))
	return m.loaded()
}

// learn returns the state of a tracepoint whose argument types are those of fn, a nil func.
//
//go:noinline
func (m *Tracepoint) learn(fn any) *state {
	s := m.stateOf()
	if s.declared.Load() == nil && s.declared.CompareAndSwap(nil, m.declare(reflect.TypeOf(fn))) {
		m.found()
	}
	return s
}

func (m *Tracepoint) declare(fn reflect.Type) *declaration {
	d := &declaration{}
	names, err := m.fieldNames()
	if m.magic != [2]uint64{magic0, magic1} {
		names, err = unnamed(fn.NumIn()), point.NotMade("tracepoint", fn)
	}
	d.err = err
	offsets := point.Offsets(fn)
	for i := range fn.NumIn() {
		t := fn.In(i)
		f := event.Field{Name: names[i], Type: t.String(), Kind: kindOf(t), Offset: int(offsets[i])}
		if f.Size = f.Kind.SizeIn(int(unsafe.Sizeof(uintptr(0)))); f.Kind == event.Invalid {
			f.Unavailable = event.Reason(noun(t.Kind()) + " is not recorded")
		}
		d.fields = append(d.fields, f)
	}
	return d
}

// fieldNames returns the names of the arguments. With an error, about these names or the
// tracepoint's own, they are named by their numbers.
func (m *Tracepoint) fieldNames() ([]string, error) {
	_, _, err := event.ParseName(m.name)
	arity := int(m.arity)
	switch n := len(m.fields); {
	case err != nil || n == 0:
	case n != arity:
		err = errors.New("it names " + strconv.Itoa(n) + " of " + strconv.Itoa(arity) + " arguments")
	default:
		if err = event.CheckNames(m.fields); err == nil {
			return m.fields, nil
		}
	}
	if err != nil {
		err = point.Wrap(m.quoted(), err)
	}
	return unnamed(arity), err
}

func unnamed(arity int) []string {
	names := make([]string, arity)
	for i := range names {
		names[i] = "arg" + strconv.Itoa(i+1)
	}
	return names
}

// kindOf returns the kind by which an argument is recorded: an address for pointers, maps, channels
// and functions; field.Invalid for types with parts and for interfaces.
func kindOf(t reflect.Type) event.Kind {
	switch t.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.Map, reflect.Func:
		return event.Pointer
	}
	return event.KindOf(t)
}

// noun names a type that is not recorded.
func noun(k reflect.Kind) string {
	switch k {
	case reflect.Interface, reflect.Array:
		return "an " + k.String()
	case reflect.Complex64, reflect.Complex128:
		return "a complex number"
	}
	return "a " + k.String()
}
