package marker

import (
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// Event is one hit of a marker, passed to a probe that was registered by name. It is the
// probe's during the call only; strings may be kept, a []byte is the caller's and must be
// copied to be kept.
//
// It holds a copy of the record, the struct of the arguments that lies on the stack of Mark,
// because a stack may move and an Event may be passed to another goroutine. The garbage collector
// does not scan the copy, so pointers are also copied to a separate array.
type Event struct {
	probe    *byName // nil after the call
	declared *declaration
	pointers [markerabi.MaxArity]unsafe.Pointer // of strings, []byte and pointers
	record   [recordWords]uintptr
}

const (
	wordSize    = unsafe.Sizeof(uintptr(0))
	recordWords = markerabi.MaxArity * unsafe.Sizeof([]byte(nil)) / wordSize // of the largest arguments
)

// Field describes one argument of a marker: its Name is the word before its verb in the format, or
// argN, and Type and Kind are known once the marker's own code has run: see [Info]. Its Offset
// and Size are 0.
type Field = event.Field

// Name returns the marker's name as declared, provider:name.
func (e *Event) Name() string { return e.declared.marker.name }

// Format returns the marker's format.
func (e *Event) Format() string { return e.declared.marker.format }

// Data returns the data that was passed to [Register].
func (e *Event) Data() any {
	if e.probe == nil {
		return nil
	}
	return e.probe.data
}

// Goroutine returns the number of the goroutine that marks: the one in tracebacks and in the
// output of waymark trace, which no other goroutine of the process ever has. It takes a few
// nanoseconds, and may be called during the event only.
func (e *Event) Goroutine() uint64 { return point.Goroutine() }

// Fields describes the arguments. The caller must not change the slice.
func (e *Event) Fields() []Field { return e.declared.fields }

// Len returns the number of arguments.
func (e *Event) Len() int { return len(e.declared.kinds) }

// Arg returns the argument i, counting from 0.
func (e *Event) Arg(i int) Value {
	v := Value{kind: e.declared.kinds[i]}
	if e.probe == nil {
		return Value{}
	}
	p := unsafe.Add(unsafe.Pointer(&e.record), e.declared.offsets[i])
	switch v.kind {
	case event.Bool, event.Uint8:
		v.bits = uint64(*(*uint8)(p))
	case event.Int8:
		v.bits = uint64(*(*int8)(p))
	case event.Int16:
		v.bits = uint64(*(*int16)(p))
	case event.Uint16:
		v.bits = uint64(*(*uint16)(p))
	case event.Int32:
		v.bits = uint64(*(*int32)(p))
	case event.Uint32, event.Float32:
		v.bits = uint64(*(*uint32)(p))
	case event.Int64, event.Uint64, event.Float64, event.Duration:
		v.bits = *(*uint64)(p)
	case event.Int:
		v.bits = uint64(*(*int)(p))
	case event.Uint, event.Uintptr:
		v.bits = uint64(*(*uint)(p))
	case event.Pointer:
		v.data = e.pointers[i]
	case event.String, event.Bytes:
		v.data, v.bits = e.pointers[i], uint64(*(*int)(unsafe.Add(p, wordSize)))
	}
	return v
}

// AppendText appends the arguments as the marker's format prints them.
func (e *Event) AppendText(b []byte) []byte {
	var values [markerabi.MaxArity]Value
	for i := range e.Len() {
		values[i] = e.Arg(i)
	}
	return appendFormat(b, e.Format(), e.declared.verbs, values[:])
}

// String returns the arguments as the marker's format prints them. Nothing is formatted
// before it is called.
func (e *Event) String() string { return string(e.AppendText(nil)) }

// deliver calls a probe that was registered by name with the arguments in record. Later calls of
// this goroutine reuse the Event, which saves an allocation for each. If the probe panics or ends
// the goroutine, the caller calls forget.
//
//go:noinline
func (m *Marker) deliver(p *point.Probe, c *point.Call, record unsafe.Pointer) {
	d := m.loaded().declared.Load()
	if d.err != nil {
		return // reported when the declaration was checked
	}
	scratch := c.Scratch()
	e := (*Event)(*scratch)
	if e == nil {
		e = &Event{}
		*scratch = unsafe.Pointer(e)
	}
	probe := (*byName)(p.Event)
	e.probe, e.declared = probe, d
	// The copy is in whole words. The last word may end in padding.
	for i := range d.words {
		e.record[i] = *(*uintptr)(unsafe.Add(record, uintptr(i)*wordSize))
	}
	for _, at := range d.pointers {
		e.pointers[at.arg%markerabi.MaxArity] = *(*unsafe.Pointer)(unsafe.Add(record, at.offset))
	}
	(*(*func(*Event))(unsafe.Pointer(&probe.fn)))(e)
	e.clear()
}

// forget releases the Event after a panic in deliver.
func (m *Marker) forget(c *point.Call) {
	if e := (*Event)(*c.Scratch()); e != nil {
		e.clear()
	}
}

// clear drops the references to the probe and its arguments, so that they can be collected.
func (e *Event) clear() {
	e.probe = nil
	for _, at := range e.declared.pointers {
		e.pointers[at.arg%markerabi.MaxArity] = nil
	}
}
