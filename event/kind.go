package event

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// Kind is the basic kind of a value. It gives the meaning of its bits, independent of its type's
// name.
type Kind uint8

// The kinds: one per basic Go kind, and Duration. Int, Uint, Uintptr and Pointer have the size of a
// machine word of the program.
const (
	Invalid Kind = iota
	Bool
	Int
	Int8
	Int16
	Int32
	Int64
	Uint
	Uint8
	Uint16
	Uint32
	Uint64
	Uintptr
	Float32
	Float64
	String
	Bytes // []byte
	Pointer
	Duration // time.Duration: an int64 of nanoseconds that text shows with its unit
	numKinds
)

// kinds is the table of the kinds' properties, shared by encoders, decoders, text and checks.
var kinds = [numKinds]struct {
	name   string // of the Go type
	class  class
	size   int // bytes on a 64-bit machine
	align  int
	signed bool
	from   reflect.Kind
	verbs  string // the conversions that print it, the natural one first
}{
	Invalid:  {"invalid", classNone, 0, 1, false, reflect.Invalid, ""},
	Bool:     {"bool", classBool, 1, 1, false, reflect.Bool, "tv"},
	Int:      {"int", classInteger, 8, 8, true, reflect.Int, "dioxXbcv"},
	Int8:     {"int8", classInteger, 1, 1, true, reflect.Int8, "dioxXbcv"},
	Int16:    {"int16", classInteger, 2, 2, true, reflect.Int16, "dioxXbcv"},
	Int32:    {"int32", classInteger, 4, 4, true, reflect.Int32, "dioxXbcv"},
	Int64:    {"int64", classInteger, 8, 8, true, reflect.Int64, "dioxXbcv"},
	Uint:     {"uint", classInteger, 8, 8, false, reflect.Uint, "diuoxXbcv"},
	Uint8:    {"uint8", classInteger, 1, 1, false, reflect.Uint8, "diuoxXbcv"},
	Uint16:   {"uint16", classInteger, 2, 2, false, reflect.Uint16, "diuoxXbcv"},
	Uint32:   {"uint32", classInteger, 4, 4, false, reflect.Uint32, "diuoxXbcv"},
	Uint64:   {"uint64", classInteger, 8, 8, false, reflect.Uint64, "diuoxXbcv"},
	Uintptr:  {"uintptr", classInteger, 8, 8, false, reflect.Uintptr, "diuoxXbpv"},
	Float32:  {"float32", classFloat, 4, 4, false, reflect.Float32, "gGfFeEv"},
	Float64:  {"float64", classFloat, 8, 8, false, reflect.Float64, "gGfFeEv"},
	String:   {"string", classText, 16, 8, false, reflect.String, "sqxXv"},
	Bytes:    {"[]byte", classText, 24, 8, false, reflect.Slice, "sqxXv"},
	Pointer:  {"unsafe.Pointer", classAddress, 8, 8, false, reflect.UnsafePointer, "pxXv"},
	Duration: {"time.Duration", classInteger, 8, 8, true, reflect.Int64, "sdioxXbv"},
}

// class groups kinds with the same encoding.
type class uint8

const (
	classNone class = iota
	classBool
	classInteger
	classFloat
	classText // a pointer and a length
	classAddress
)

// IsValid reports whether k is a kind other than Invalid.
func (k Kind) IsValid() bool { return k > Invalid && k < numKinds }

// String returns the Go name of the kind, "[]byte", "unsafe.Pointer" and "time.Duration" included.
func (k Kind) String() string {
	if k < numKinds {
		return kinds[k].name
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Size returns the size in bytes of a value of kind k on a 64-bit machine.
func (k Kind) Size() int { return kinds[k].size }

// SizeIn returns the size in bytes of a value of kind k where a pointer has word bytes.
func (k Kind) SizeIn(word int) int {
	switch k {
	case Int, Uint, Uintptr, Pointer, String, Bytes:
		return kinds[k].size / 8 * word
	}
	return kinds[k].size
}

// Signed reports whether k is a signed integer kind.
func (k Kind) Signed() bool { return kinds[k].signed }

// IsInteger reports whether k is an integer kind, Uintptr and Duration included.
func (k Kind) IsInteger() bool { return kinds[k].class == classInteger }

// IsFloat reports whether k is a floating-point kind.
func (k Kind) IsFloat() bool { return kinds[k].class == classFloat }

// HasLength reports whether a value has a pointer and a length: two operands of an SDT note.
func (k Kind) HasLength() bool { return kinds[k].class == classText }

// Accepts reports whether a verb can print a value of kind k. Package marker calls it at first use,
// waymark vet at compile time and waymark link at link time.
func (v Verb) Accepts(k Kind) bool { return strings.IndexByte(kinds[k].verbs, v.Char) >= 0 }

// natural returns the conversion that suits a kind best.
func (k Kind) natural() string {
	if k == Invalid {
		return "v"
	}
	return kinds[k].verbs[:1]
}

// KindOf returns the kind of a Go type, Invalid when the type is not basic.
func KindOf(t reflect.Type) Kind {
	switch t.Kind() {
	case reflect.Int64:
		return KindOfType(Int64, t.PkgPath()+"."+t.Name())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return Bytes
		}
		return Invalid
	}
	for k := Bool; k < numKinds; k++ {
		if kinds[k].from == t.Kind() {
			return k
		}
	}
	return Invalid
}

// KindOfType returns the kind of the type with basic kind k and full name name: Duration for
// time.Duration, k for others.
func KindOfType(k Kind, name string) Kind {
	if k == Int64 && name == kinds[Duration].name {
		return Duration
	}
	return k
}

// MarshalText returns the kind's Go name, so that people can read schemas and JSON output.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k to the kind of a name that MarshalText returned.
func (k *Kind) UnmarshalText(text []byte) error {
	for i := Bool; i < numKinds; i++ {
		if kinds[i].name == string(text) {
			*k = i
			return nil
		}
	}
	return errors.New("unknown kind " + strconv.Quote(string(text[:min(len(text), 40)])))
}

// Layout returns the offset of each kind in a Go struct with fields of these kinds in this
// order, on a 64-bit machine: the record that a marker's slow path builds.
func Layout(ks []Kind) []int {
	offsets := make([]int, len(ks))
	at := 0
	for i, k := range ks {
		align := kinds[k].align
		at = (at + align - 1) &^ (align - 1)
		offsets[i] = at
		at += kinds[k].size
	}
	return offsets
}
