package field

import (
	"errors"
	"reflect"
	"strconv"
)

// Kind is the basic kind of an argument: what its bits mean, whatever its Go type is called.
type Kind uint8

// The kinds, one per basic Go kind. Int, Uint, Uintptr and Pointer are a machine word.
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
)

var kinds = [...]struct {
	name   string
	size   int // bytes on a 64-bit machine
	align  int
	signed bool
	from   reflect.Kind
}{
	Invalid: {"invalid", 0, 1, false, reflect.Invalid},
	Bool:    {"bool", 1, 1, false, reflect.Bool},
	Int:     {"int", 8, 8, true, reflect.Int},
	Int8:    {"int8", 1, 1, true, reflect.Int8},
	Int16:   {"int16", 2, 2, true, reflect.Int16},
	Int32:   {"int32", 4, 4, true, reflect.Int32},
	Int64:   {"int64", 8, 8, true, reflect.Int64},
	Uint:    {"uint", 8, 8, false, reflect.Uint},
	Uint8:   {"uint8", 1, 1, false, reflect.Uint8},
	Uint16:  {"uint16", 2, 2, false, reflect.Uint16},
	Uint32:  {"uint32", 4, 4, false, reflect.Uint32},
	Uint64:  {"uint64", 8, 8, false, reflect.Uint64},
	Uintptr: {"uintptr", 8, 8, false, reflect.Uintptr},
	Float32: {"float32", 4, 4, false, reflect.Float32},
	Float64: {"float64", 8, 8, false, reflect.Float64},
	String:  {"string", 16, 8, false, reflect.String},
	Bytes:   {"[]byte", 24, 8, false, reflect.Slice},
	Pointer: {"unsafe.Pointer", 8, 8, false, reflect.UnsafePointer},
}

// String returns the Go name of the kind, "[]byte" and "unsafe.Pointer" included.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Size returns the size in bytes of a value of kind k on a 64-bit machine.
func (k Kind) Size() int { return kinds[k].size }

// Signed reports whether k is a signed integer kind.
func (k Kind) Signed() bool { return kinds[k].signed }

// IsInteger reports whether k is an integer kind, uintptr included.
func (k Kind) IsInteger() bool { return k >= Int && k <= Uintptr }

// IsFloat reports whether k is a floating-point kind.
func (k Kind) IsFloat() bool { return k == Float32 || k == Float64 }

// HasLength reports whether a value is a pointer and a length: two operands of an SDT note.
func (k Kind) HasLength() bool { return k == String || k == Bytes }

// KindOf returns the kind of a Go type, Invalid when the type is not basic.
func KindOf(t reflect.Type) Kind {
	k := FromReflect(t.Kind())
	if k == Bytes && t.Elem().Kind() != reflect.Uint8 {
		return Invalid
	}
	return k
}

// FromReflect returns the kind that a reflect.Kind stands for; reflect.Slice is taken to be []byte.
func FromReflect(from reflect.Kind) Kind {
	for k := Bool; k <= Pointer; k++ {
		if kinds[k].from == from {
			return k
		}
	}
	return Invalid
}

// MarshalText writes the kind's Go name, so that schemas and JSON output can be read by people.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	for i := Bool; i <= Pointer; i++ {
		if kinds[i].name == string(text) {
			*k = i
			return nil
		}
	}
	return errors.New("unknown kind " + strconv.Quote(string(text[:min(len(text), 40)])))
}

// Layout returns the offset of each kind in a Go struct with fields of these kinds in this
// order: the record that a marker's slow path builds.
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
