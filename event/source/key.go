package source

import (
	"encoding/binary"

	"github.com/waymark-trace/waymark/event"
)

// KeyText is the number of bytes of a text that a key contains. A key also contains the length of
// the whole text.
const KeyText = 64

// Builtin returns a value that every event has: pid, tid, cpu, comm, or goroutine, which is also gid.
// It returns false for other names, and for a goroutine that is unknown.
func Builtin(e *event.Event, name string) (event.Value, bool) {
	switch name {
	case "pid":
		return event.Number(event.Int, uint64(e.PID)), true
	case "tid":
		return event.Number(event.Int, uint64(e.TID)), true
	case "cpu":
		return event.Number(event.Int, uint64(e.CPU)), true
	case "comm":
		return event.Text(event.String, []byte(e.Comm), len(e.Comm)), true
	case "goroutine", "gid":
		return event.Number(event.Int64, uint64(e.Goroutine)), e.Goroutine != 0
	}
	return event.Value{}, false
}

// KeyField returns the field that a name means in keys: one of the point, by its name or as argN, or
// else that of a Builtin value. It returns false for other names.
func KeyField(p *event.Point, name string) (event.Field, bool) {
	if i := p.Lookup(name); i >= 0 {
		return p.Fields[i], true
	}
	return BuiltinField(name)
}

// BuiltinField returns the field that describes a Builtin value.
func BuiltinField(name string) (event.Field, bool) {
	switch name {
	case "pid", "tid", "cpu":
		return event.Field{Name: name, Type: "int", Kind: event.Int}, true
	case "comm":
		return event.Field{Name: name, Type: "string", Kind: event.String}, true
	case "goroutine", "gid":
		return event.Field{Name: name, Type: "int64", Kind: event.Int64}, true
	}
	return event.Field{Name: name}, false
}

// KeyValue returns a value of an event that can serve as a key: a field's value or, where the event
// has no field of that name, a Builtin value. It returns false for events without the value. Of a
// text it returns the first KeyText bytes, with the whole length.
func KeyValue(e *event.Event, name string) (event.Value, bool) {
	i := e.Point.Lookup(name)
	if i < 0 {
		return Builtin(e, name)
	}
	if i >= len(e.Values) || e.Point.Fields[i].Unavailable != "" {
		return event.Value{}, false
	}
	v := e.Values[i]
	if text := v.Bytes(); len(text) > KeyText {
		v = event.Text(v.Kind(), text[:KeyText], v.Len())
	}
	return v, v.Err() == nil && v.Kind() != event.Invalid
}

// The first byte of an encoded value.
const (
	keyNone = iota
	keyText
	keyNumber
)

// AppendKey appends the value of KeyValue in an encoding that is unique for each value and free of
// prefixes. It returns false for events without the value; these all have the same encoding.
func AppendKey(b []byte, e *event.Event, name string) ([]byte, bool) {
	v, ok := KeyValue(e, name)
	switch {
	case !ok:
		return append(b, keyNone), false
	case v.Kind().HasLength():
		b = binary.AppendVarint(append(b, keyText), int64(v.Len()))
		text := v.Bytes()
		return append(append(b, byte(len(text))), text...), true
	}
	return binary.AppendUvarint(append(b, keyNumber), v.Bits()), true
}
