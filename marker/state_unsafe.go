package marker

import (
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/inproc/problem"
)

// state holds the data that a marker needs once it is used.
type state struct {
	point.State

	// declared is nil until the argument types are known. Only code of the marker's own type knows
	// them: its slow path and its Register.
	declared atomic.Pointer[declaration]
	// texts are the texts of declared, or nil. They are stored before it.
	texts atomic.Pointer[texts]

	arming sync.Mutex
	arms   int // by Marker.Arm

	named int // by name: the name's count less the failures here; under known's lock
}

// declaration is the checked combination of a marker's name, format and argument types.
type declaration struct {
	marker   *Marker
	err      error  // why it is invalid, or nil
	texts    *texts // nil for none
	words    int    // of the record
	pointers []pointer
	offsets  []uintptr // of the arguments in the record
	kinds    []event.Kind
	verbs    []event.Verb
	fields   []Field
}

// pointer is the position in the record of an argument that begins with a pointer.
type pointer struct {
	arg    uint
	offset uintptr
}

func declare(m *Marker, fn reflect.Type) *declaration {
	d := &declaration{marker: m}
	if m.magic != [2]uint64{magic0, magic1} {
		d.err = point.NotMade("marker", fn)
		return d
	}
	d.offsets = point.Offsets(fn)
	for i := range fn.NumIn() {
		t := fn.In(i)
		k := event.KindOf(t)
		if r := readerOf(t); r != nil {
			k = event.String
			if d.texts == nil {
				d.texts = &texts{}
			}
			d.texts.args = append(d.texts.args, textArg{d.offsets[i], r})
		}
		d.kinds = append(d.kinds, k)
		d.words = int((d.offsets[i] + t.Size() + wordSize - 1) / wordSize)
		if k == event.Pointer || k.HasLength() {
			d.pointers = append(d.pointers, pointer{uint(i), d.offsets[i]})
		}
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
	s.texts.CompareAndSwap(nil, d.texts)
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

// quoted returns the marker's name for messages.
func (m *Marker) quoted() string { return "marker " + strconv.Quote(m.name) }
