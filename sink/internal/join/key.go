package join

import (
	"reflect"

	"github.com/waymark-trace/waymark/marker"
)

// Key is the value that a begin and its end share. Keys are comparable only within one pair of
// markers.
type Key struct {
	number uint64
	text   string
}

// KeyOf returns the key of an event: its argument of this name, or its goroutine when the name
// is "". It reports false when the event has no such argument, or a float of that name.
func KeyOf(e *marker.Event, name string) (Key, bool) {
	if name == "" {
		return Key{number: e.Goroutine()}, true
	}
	for i, f := range e.Fields() {
		if f.Name == name {
			return keyOf(e.Arg(i))
		}
	}
	return Key{}, false
}

func keyOf(v marker.Value) (Key, bool) {
	switch v.Kind() {
	case reflect.String, reflect.Slice:
		return Key{text: v.Text()}, true // copies a []byte, which is the marking goroutine's
	case reflect.Float32, reflect.Float64:
		return Key{}, false // NaN is no key, and 0.1+0.2 no good one
	case reflect.Bool:
		if v.Bool() {
			return Key{number: 1}, true
		}
		return Key{}, true
	}
	return Key{number: v.Uint()}, true
}
