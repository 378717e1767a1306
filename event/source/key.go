package source

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// KeyText is how many bytes of a text a key has. Texts are told apart by them and by their whole
// length.
const KeyText = 64

// Builtin returns one of the values that every event has: pid, tid, cpu, comm and goroutine. It
// reports false for other names, and for the goroutine of an event where it is not known.
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
	case "goroutine":
		return event.Number(event.Int64, uint64(e.Goroutine)), e.Goroutine != 0
	}
	return event.Value{}, false
}

// Field returns the index of the field of a name, or else of the N-th where the name is argN; -1
// when there is none.
func Field(p *event.Point, name string) int {
	if i := p.Field(name); i >= 0 {
		return i
	}
	if digits, ok := strings.CutPrefix(name, "arg"); ok {
		if n, err := strconv.Atoi(digits); err == nil && 1 <= n && n <= len(p.Fields) {
			return n - 1
		}
	}
	return -1
}

// KeyValue returns the value of an event by which it can be joined with others or counted: one
// that every event has, or that of a field. It reports false for events without such a value. A
// text has its first KeyText bytes and its length.
func KeyValue(e *event.Event, name string) (event.Value, bool) {
	v, ok := Builtin(e, name)
	if v.Kind() != event.Invalid {
		return v, ok
	}
	i := Field(e.Point, name)
	if i < 0 || i >= len(e.Values) || e.Point.Fields[i].Unavailable != "" {
		return event.Value{}, false
	}
	v = e.Values[i]
	if text := v.Bytes(); len(text) > KeyText {
		v = event.Text(v.Kind(), text[:KeyText], v.Len())
	}
	return v, v.Err() == nil && v.Kind() != event.Invalid
}

// AppendKey appends the value of a name as bytes that are the same for equal values only, and
// that show where they end. It reports false for events without such a value, which are alike.
func AppendKey(b []byte, e *event.Event, name string) ([]byte, bool) {
	v, ok := KeyValue(e, name)
	switch {
	case !ok:
		return append(b, 0), false
	case v.Kind().HasLength():
		b = binary.AppendVarint(append(b, 1), int64(v.Len()))
		text := v.Bytes()
		return append(append(b, byte(len(text))), text...), true
	}
	return binary.AppendUvarint(append(b, 2), v.Bits()), true
}
