package marker

import (
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/point"
	"github.com/waymark-trace/waymark/internal/problem"
)

// state is what a marker needs once it is used.
type state struct {
	point.State

	// declared is nil until the argument types are known, which only code of the marker's own
	// type can tell: its slow path and its Register.
	declared atomic.Pointer[declaration]

	arming sync.Mutex
	arms   int // by Marker.Arm

	named int // by name: what the name counts less what failed here; under known's lock
}

// declaration is what a marker's name, format and argument types come to.
type declaration struct {
	verbs   []event.Verb
	kinds   []event.Kind
	offsets []uintptr // in the record
	fields  []Field
	err     error // what is wrong with it
}

func declare(m *Marker, fn reflect.Type) *declaration {
	d := &declaration{}
	if m.magic != [2]uint64{magic0, magic1} {
		d.err = point.NotMade("marker", fn)
		return d
	}
	d.offsets = point.Offsets(fn)
	for i := range fn.NumIn() {
		d.kinds = append(d.kinds, event.KindOf(fn.In(i)))
	}
	if _, _, err := event.ParseName(m.name); err != nil {
		d.err = point.Wrap(m.quoted(), err)
		return d
	}
	verbs, err := event.Check(m.format, d.kinds)
	if err != nil {
		d.err = point.Wrap(m.quoted(), err)
		return d
	}
	d.verbs = verbs
	for i, v := range verbs {
		d.fields = append(d.fields, Field{Name: v.Name, Type: fn.In(i).String(), Kind: d.kinds[i], Verb: v.Text})
	}
	return d
}

// loaded returns the marker's state, nil before its first use.
func (m *Marker) loaded() *state { return (*state)(atomic.LoadPointer(&m.state)) }

// stateOf returns the marker's state, making it at first use.
func (m *Marker) stateOf() *state {
	if s := m.loaded(); s != nil {
		return s
	}
	atomic.CompareAndSwapPointer(&m.state, nil, unsafe.Pointer(&state{}))
	return m.loaded()
}

// learn returns the state of a marker whose argument types are those of fn, a nil func.
//
//go:noinline
func (m *Marker) learn(fn any) *state {
	s := m.stateOf()
	if s.declared.Load() != nil {
		return s
	}
	d := declare(m, reflect.TypeOf(fn))
	if !s.declared.CompareAndSwap(nil, d) {
		return s
	}
	if d.err != nil {
		problem.Report(d.err)
	} else {
		known.add(m)
	}
	return s
}

// quoted is what messages call the marker.
func (m *Marker) quoted() string { return "marker " + strconv.Quote(m.name) }
