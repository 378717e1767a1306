package marker

import (
	"reflect"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/point"
	"github.com/waymark-trace/waymark/internal/problem"
)

// Stringer is a type that [Text] wraps: a named type of a basic kind with a String method.
type Stringer interface {
	basic
	String() string
}

// Text makes an argument of a value that has a String method. The marker's slow path calls
// that method, so while the marker is off, a Text costs no more than the value itself:
//
//	var changed = marker.New1[marker.Text[State]]("job:changed", "state %s")
//	…
//	changed.Mark(marker.TextOf(state))
//
// Probes and tracers get the text; %s, %q, %x and %v fit it.
type Text[T Stringer] struct {
	text unsafe.Pointer
	word uint64
}

// words is a Text of any type, in one of two states, which isText tells apart.
//
// A value is as TextOf made it: a number is the word; a string or []byte is the address of its bytes,
// and its length with unread set. A text begins with a string header, whose pointer is never
// nil: a record that has it in place of the value needs no second record for tracers.
type words struct {
	text unsafe.Pointer
	word uint64
}

const (
	unread   = 1 << 63
	textSize = unsafe.Sizeof(words{})
	narrow   = wordSize < 8 // a string has the size of an int64
)

// TextOf returns v as an argument of a marker. The compiler inlines it and does nothing for it before
// the marker is found to be on.
func TextOf[T Stringer](v T) (t Text[T]) {
	if narrow {
		return textOf(v)
	}
	// The compiler knows the size of v and keeps one of these.
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

// textOf is TextOf where the size does not tell a string from a number.
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

// String returns the text. In a probe it is there already; elsewhere the value's String method
// makes it.
func (t Text[T]) String() string {
	if w := (words)(t); w.isText() {
		return w.string()
	}
	return t.value().String()
}

// value undoes TextOf.
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

// read returns the text of a Text of this type.
func (Text[T]) read(w words) string { return Text[T](w).String() }

// reader is a Text of any type. Its value does not matter: read gets one.
type reader interface{ read(words) string }

// readerOf returns the reader of an argument's type, nil for one that is no Text. It makes the
// interface itself: reflect.Value.Interface would make a program 80 KB larger, by what calls
// methods.
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

var empty = " " // has an address, which an empty string need not have

// set makes a text of w.
func (w *words) set(s string) {
	if s == "" {
		s = empty[:0]
	}
	w.word = 0
	*(*string)(unsafe.Pointer(w)) = s
}

// textArg is an argument that is a Text.
type textArg struct {
	offset uintptr // in the record
	reader reader
}

// texts are the arguments of a declaration that are Texts. The state notes which goroutines
// are in their String methods: one that hits its own marker must not call itself.
type texts struct {
	args  []textArg
	state point.State
}

const nested = "%!v(NESTED=String method)"

// read replaces the values in a record by their texts.
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
		case w.isText(): // a probe of another marker hands on what it got
		case call == nil:
			w.set(nested)
		default:
			w.set(t.args[i].read(*w))
		}
	}
}

// read calls a String method. One that panics is no reason for the program to end, nor to go
// without the event: the text tells of it, as that of package fmt does.
func (a *textArg) read(w words) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = "%!v(PANIC=String method: " + problem.Text(v) + ")"
		}
	}()
	return a.reader.read(w)
}
