package marker

import (
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/point"
)

// Event is one pass of a marker, as a probe that was registered by name sees it. It is the
// probe's during the call only; strings may be kept, a []byte is the caller's and must be
// copied to be kept.
type Event struct {
	marker   *Marker
	declared *declaration
	data     any
	args     [markerabi.MaxArity]Value
}

// Field describes one argument of a marker: its Name is the word before its verb in the format, or
// argN, and Type and Kind are known once the marker's own code has run: see [Info]. Its Offset
// and Size are 0.
type Field = event.Field

// Name returns the marker's name as declared, provider:name.
func (e *Event) Name() string { return e.marker.name }

// Format returns the marker's format.
func (e *Event) Format() string { return e.marker.format }

// Data returns what was given to [Register].
func (e *Event) Data() any { return e.data }

// Goroutine returns the number of the goroutine that marks: the one in tracebacks and in the
// output of waymark trace, which no other goroutine of the process ever has. It takes a few
// nanoseconds, and may be called during the event only.
func (e *Event) Goroutine() uint64 { return point.Goroutine() }

// Fields describes the arguments. The caller must not change what it returns.
func (e *Event) Fields() []Field { return e.declared.fields }

// Len returns the number of arguments.
func (e *Event) Len() int { return len(e.declared.kinds) }

// Arg returns the argument i, counting from 0.
func (e *Event) Arg(i int) Value { return e.args[:e.Len()][i] }

// AppendText appends the arguments as the marker's format prints them.
func (e *Event) AppendText(b []byte) []byte {
	return appendFormat(b, e.marker.format, e.declared.verbs, e.args[:])
}

// String returns the arguments as the marker's format prints them. Nothing is formatted
// before it is called.
func (e *Event) String() string { return string(e.AppendText(nil)) }

// event returns the event to fill for a probe registered by name. It is used again by this
// goroutine's later calls, so it is not allocated for each.
func (m *Marker) event(c *point.Call) *Event {
	scratch := c.Scratch()
	e, ok := (*scratch).(*Event)
	if !ok {
		e = &Event{}
		*scratch = e
	}
	e.marker, e.declared = m, m.loaded().declared.Load()
	return e
}

// call calls the probe, and keeps nothing of the arguments alive afterwards.
func (e *Event) call(p *point.Probe) {
	if e.declared.err != nil {
		return // reported when the declaration was seen to be wrong
	}
	b := p.Event.(*byName)
	e.data = b.data
	defer e.clear()
	b.fn(e)
}

func (e *Event) clear() {
	clear(e.args[:len(e.declared.kinds)])
	e.data = nil
}

// set stores the argument that p points to.
func (e *Event) set(i int, p unsafe.Pointer) {
	v := &e.args[i]
	v.kind = e.declared.kinds[i]
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
		v.data = *(*unsafe.Pointer)(p)
	case event.String:
		s := *(*string)(p)
		v.data, v.bits = unsafe.Pointer(unsafe.StringData(s)), uint64(len(s))
	case event.Bytes:
		s := *(*[]byte)(p)
		v.data, v.bits = unsafe.Pointer(unsafe.SliceData(s)), uint64(len(s))
	}
}
