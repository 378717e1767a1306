package problem

import (
	"reflect"
	"runtime"
	"strconv"
)

// PanicError reports a probe that panicked and was disconnected.
type PanicError struct {
	Point string // the probe's point: `marker "http:request_start"`
	Probe string // the name of its function
	Value any    // the value passed to panic
	Stack []byte // of its goroutine, as package runtime prints it: the panic is below
}

// Error returns the probe and the value in one line. It does not panic, even if the value's own
// methods do.
func (e *PanicError) Error() string {
	return e.Point + ": probe " + e.Probe + " panicked and was disconnected: " + Text(e.Value)
}

// Text formats v, the value of a panic, as the runtime does: by its methods first, then by its
// basic kind. Text does not panic.
func Text(v any) (s string) {
	t := reflect.TypeOf(v)
	if t == nil {
		return "nil"
	}
	defer func() {
		if recover() != nil { // the value's method panicked, as that of a typed nil does
			s = "a value of type " + t.String()
		}
	}()
	switch v := v.(type) {
	case error:
		return v.Error()
	case interface{ String() string }:
		return v.String()
	case string:
		return v
	}
	if s := basic(reflect.ValueOf(v)); s != "" {
		return t.String() + "(" + s + ")"
	}
	return "a value of type " + t.String()
}

// basic prints a value of a basic kind, and nothing for others.
func basic(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case v.CanComplex():
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	}
	return ""
}

// maxStack is how much of a stack is kept: a probe may have recursed deeply.
const maxStack = 64 << 10

// Stack returns the stack of this goroutine.
func Stack() []byte {
	for size := 4 << 10; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, false); n < size || size >= maxStack {
			return b[:n]
		}
	}
}
