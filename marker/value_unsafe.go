package marker

import (
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
)

// Value is one argument of an [Event]: a value of a basic type, without an allocation.
type Value struct {
	kind event.Kind
	bits uint64         // a number, or the length of the data
	data unsafe.Pointer // of a string, a []byte or a pointer
}

var reflectKinds = [...]reflect.Kind{
	event.Invalid: reflect.Invalid, event.Bool: reflect.Bool,
	event.Int: reflect.Int, event.Int8: reflect.Int8, event.Int16: reflect.Int16, event.Int32: reflect.Int32, event.Int64: reflect.Int64,
	event.Uint: reflect.Uint, event.Uint8: reflect.Uint8, event.Uint16: reflect.Uint16, event.Uint32: reflect.Uint32, event.Uint64: reflect.Uint64,
	event.Uintptr: reflect.Uintptr, event.Float32: reflect.Float32, event.Float64: reflect.Float64,
	event.String: reflect.String, event.Bytes: reflect.Slice, event.Pointer: reflect.UnsafePointer, event.Duration: reflect.Int64,
}

// Kind returns the kind of the argument's type; reflect.Slice is a []byte.
func (v Value) Kind() reflect.Kind { return reflectKinds[v.kind] }

// Int returns an integer, signed; 0 for other kinds.
func (v Value) Int() int64 {
	if !v.kind.IsInteger() {
		return 0
	}
	return int64(v.bits)
}

// Uint returns an integer or the address in a pointer; 0 for other kinds.
func (v Value) Uint() uint64 {
	switch {
	case v.kind == event.Pointer:
		return uint64(uintptr(v.data))
	case v.kind.IsInteger():
		return v.bits
	}
	return 0
}

// Float returns a float; 0 for other kinds.
func (v Value) Float() float64 {
	switch v.kind {
	case event.Float32:
		return float64(math.Float32frombits(uint32(v.bits)))
	case event.Float64:
		return math.Float64frombits(v.bits)
	}
	return 0
}

// Bool returns a bool; false for other kinds.
func (v Value) Bool() bool { return v.kind == event.Bool && v.bits != 0 }

// Text returns a string, or a copy of a []byte as a string; "" for other kinds.
func (v Value) Text() string {
	switch v.kind {
	case event.String:
		return unsafe.String((*byte)(v.data), int(v.bits))
	case event.Bytes:
		return string(v.Bytes())
	}
	return ""
}

// Bytes returns a []byte that belongs to the caller of Mark: neither change it nor keep it. It
// is nil for other kinds.
func (v Value) Bytes() []byte {
	if v.kind != event.Bytes {
		return nil
	}
	return unsafe.Slice((*byte)(v.data), int(v.bits))
}

// Any returns the value as its basic type or a time.Duration, allocating where it must; a []byte is not copied.
func (v Value) Any() any {
	switch v.kind {
	case event.Bool:
		return v.Bool()
	case event.Int:
		return int(v.bits)
	case event.Int8:
		return int8(v.bits)
	case event.Int16:
		return int16(v.bits)
	case event.Int32:
		return int32(v.bits)
	case event.Int64:
		return int64(v.bits)
	case event.Uint:
		return uint(v.bits)
	case event.Uint8:
		return uint8(v.bits)
	case event.Uint16:
		return uint16(v.bits)
	case event.Uint32:
		return uint32(v.bits)
	case event.Uint64:
		return v.bits
	case event.Uintptr:
		return uintptr(v.bits)
	case event.Float32:
		return math.Float32frombits(uint32(v.bits))
	case event.Float64:
		return v.Float()
	case event.String:
		return v.Text()
	case event.Bytes:
		return v.Bytes()
	case event.Pointer:
		return v.data
	case event.Duration:
		return time.Duration(v.bits)
	}
	return nil
}

// String returns the value as %v prints it.
func (v Value) String() string { return string(appendVerb(nil, event.Verb{Text: "%v", Char: 'v'}, v)) }
