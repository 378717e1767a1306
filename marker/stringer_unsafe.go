package marker

import (
	"reflect"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/inproc/problem"
)

// Stringer is a type that [Text] wraps: a named type of a basic kind with a String method.
type Stringer interface {
	basic
	String() string
}

// Text wraps a value with a String method as an argument of a marker. Only the marker's slow path
// calls that method, so while the marker is off, a Text costs no more than the value itself:
//
//	var changed = marker.New1[marker.Text[State]]("job:changed", "state %s")
//	…
//	changed.Mark(marker.TextOf(state))
//
// Probes and tracers get the text. The verbs %s, %q, %x and %v print it.
type Text[T Stringer] struct {
	text unsafe.Pointer
	word uint64
}

// words is a Text of any type. It is in one of two states, which isText distinguishes.
//
// In the first state it holds a value, as made by TextOf. A number is in word. A string or []byte
// is the address of its bytes and its length, with the bit unread set.
//
// In the second state it begins with a string header with a pointer that is not nil. The text
// replaces the value in the record, so tracers need no second record.
type words struct {
	text unsafe.Pointer
	word uint64
}

const (
	unread   = 1 << 63
	textSize = unsafe.Sizeof(words{})
	narrow   = wordSize < 8 // a string has the size of an int64
)

// TextOf returns v as an argument of a marker. The compiler inlines it and moves its code after the
// test whether the marker is on.
func TextOf[T Stringer](v T) (t Text[T]) {
	if narrow {
		return textOf(v)
	}
	// The compiler knows the size of v and removes all other cases.
	switch unsafe.Sizeof(v) {
	case 1:
		t.word = uint64(*(*uint8)(unsafe.Pointer(&v)))
	case 2:
		t.word = uint64(*(*uint16)(unsafe.Pointer(&v)))
	case 4:
		t.word = uint64(*(*uint32)(unsafe.Pointer(&v)))
	case 8:
		t.word = *(*uint64)(unsafe.Pointer(&v))
	default:
		t.text = *(*unsafe.Pointer)(unsafe.Pointer(&v))
		t.word = *(*uint64)(unsafe.Add(unsafe.Pointer(&v), wordSize)) | unread
	}
	return t
}

// textOf is TextOf for machines on which a string and a number can have the same size.
func textOf[T Stringer](v T) (t Text[T]) {
	p := unsafe.Pointer(&v)
	switch {
	case hasLength[T]():
		t.text, t.word = *(*unsafe.Pointer)(p), uint64(*(*uintptr)(unsafe.Add(p, wordSize)))|unread
	case unsafe.Sizeof(v) == 1:
		t.word = uint64(*(*uint8)(p))
	case unsafe.Sizeof(v) == 2:
		t.word = uint64(*(*uint16)(p))
	case unsafe.Sizeof(v) == 4:
		t.word = uint64(*(*uint32)(p))
	default:
		t.word = *(*uint64)(p)
	}
	return t
}

func hasLength[T Stringer]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k == reflect.String || k == reflect.Slice
}

// String returns the text. In a probe it exists already; elsewhere String calls the value's method.
func (t Text[T]) String() string {
	if w := (words)(t); w.isText() {
		return w.string()
	}
	return t.value().String()
}

// value returns the argument of TextOf.
func (t Text[T]) value() (v T) {
	p := unsafe.Pointer(&v)
	switch {
	case hasLength[T]():
		n := uintptr(t.word &^ unread)
		*(*unsafe.Pointer)(p), *(*uintptr)(unsafe.Add(p, wordSize)) = t.text, n
		if unsafe.Sizeof(v) > 2*wordSize {
			*(*uintptr)(unsafe.Add(p, 2*wordSize)) = n
		}
	case unsafe.Sizeof(v) == 1:
		*(*uint8)(p) = uint8(t.word)
	case unsafe.Sizeof(v) == 2:
		*(*uint16)(p) = uint16(t.word)
	case unsafe.Sizeof(v) == 4:
		*(*uint32)(p) = uint32(t.word)
	default:
		*(*uint64)(p) = t.word
	}
	return v
}

// read returns the text of w, a Text of this type.
func (Text[T]) read(w words) string { return Text[T](w).String() }

// reader is a Text of any type. read ignores its receiver and takes the value as an argument.
type reader interface{ read(words) string }

// readerOf returns the reader of an argument's type, or nil if the type is not a Text. It builds
// the interface by hand, because reflect.Value.Interface links 80 KB of method-calling code into
// the program.
func readerOf(t reflect.Type) reader {
	if t.Kind() != reflect.Struct {
		return nil
	}
	descriptor := (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
	v := [2]unsafe.Pointer{descriptor, unsafe.Pointer(&zero)}
	r, _ := (*(*any)(unsafe.Pointer(&v))).(reader)
	return r
}

var zero words

func (w *words) isText() bool   { return w.text != nil && w.word < unread }
func (w *words) string() string { return *(*string)(unsafe.Pointer(w)) }

var empty = " " // an empty string need not have an address; a slice of this one has

// set turns w into the text s.
func (w *words) set(s string) {
	if s == "" {
		s = empty[:0]
	}
	w.word = 0
	*(*string)(unsafe.Pointer(w)) = s
}

// textArg describes an argument that is a Text.
type textArg struct {
	offset uintptr // in the record
	reader reader
}

// texts are the arguments of a declaration that are Texts. The state tracks the goroutines in their
// String methods, so that a method that hits its own marker is not called recursively.
type texts struct {
	args  []textArg
	state point.State
}

const nested = "%!v(NESTED=String method)"

// read replaces the values in a record with their texts.
//
//go:noinline
func (t *texts) read(record unsafe.Pointer) {
	call := t.state.Enter()
	if call != nil {
		defer call.Leave()
	}
	for i := range t.args {
		w := (*words)(unsafe.Add(record, t.args[i].offset))
		switch {
		case w.isText(): // passed on by a probe of another marker
		case call == nil:
			w.set(nested)
		default:
			w.set(t.args[i].read(*w))
		}
	}
}

// read calls a String method. If the method panics, the program continues and the event is
// delivered: as in package fmt, the text reports the panic.
func (a *textArg) read(w words) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = "%!v(PANIC=String method: " + problem.Text(v) + ")"
		}
	}()
	return a.reader.read(w)
}
