package recording

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
)

var (
	byteType = &ctf.Integer{Size: 8, Base: 16}
	charType = &ctf.Integer{Size: 8, UTF8: true}
	boolType = &ctf.Enum{
		Integer: ctf.Integer{Size: 8},
		Labels:  []ctf.Label{{Name: "false"}, {Name: "true", Low: 1, High: 1}},
	}
)

// types returns the fields that of a trace hold a value of this layout. A string or []byte that was cut is a struct with the
// size of the whole, -1 where nothing says it, and of a value that there is none of it is one with the reason.
func (f layout) types(name string, of *event.Field) []ctf.Field {
	one := func(t ctf.Type) []ctf.Field { return []ctf.Field{{Name: name, Type: t}} }
	switch {
	case f.encoding == missing:
		return one(&ctf.Struct{Fields: []ctf.Field{{Name: "unavailable", Type: &ctf.String{}}}})
	case f.encoding == cut:
		return one(&ctf.Struct{Fields: append(counted("begin", elemOf(f.kind)),
			ctf.Field{Name: "size", Type: &ctf.Integer{Size: 64, Signed: true}})})
	case f.kind == event.String && f.encoding == plain:
		return one(&ctf.String{})
	case f.kind.HasLength():
		return counted(name, elemOf(f.kind))
	case f.kind == event.Bool:
		return one(boolType)
	case f.kind.IsFloat():
		return one(&ctf.Float{Size: 8 * f.kind.Size()})
	}
	return one(&ctf.Integer{Size: 8 * f.kind.Size(), Signed: f.kind.Signed(), Base: base(f.kind, of.Verb)})
}

func elemOf(k event.Kind) ctf.Type {
	if k == event.String {
		return charType
	}
	return byteType
}

// counted is a sequence behind its length.
func counted(name string, elem ctf.Type) []ctf.Field {
	length := name + "_length"
	return []ctf.Field{{Name: length, Type: &ctf.Integer{Size: 32}}, {Name: name, Type: &ctf.Sequence{Length: length, Elem: elem}}}
}

// base is in which a number should be shown.
func base(k event.Kind, verb string) int {
	if k == event.Pointer || k == event.Uintptr {
		return 16
	}
	switch {
	case verb == "":
		return 10
	case strings.IndexByte("xXp", verb[len(verb)-1]) >= 0:
		return 16
	case verb[len(verb)-1] == 'o':
		return 8
	case verb[len(verb)-1] == 'b':
		return 2
	}
	return 10
}

// values appends the values of an event, as types has them.
func (k *eventClass) values(to []ctf.Value, e *event.Event) []ctf.Value {
	for i, f := range k.layouts {
		v := &e.Values[i]
		switch {
		case f.encoding == missing:
			to = append(to, ctf.Value{Elems: []ctf.Value{{Text: reason(&e.Point.Fields[i], v)}}})
		case f.encoding == cut:
			to = append(to, ctf.Value{Elems: []ctf.Value{{Bits: uint64(len(v.Bytes()))}, {Text: v.Bytes()}, {Bits: uint64(int64(v.Len()))}}})
		case f.kind == event.String && f.encoding == plain:
			to = append(to, ctf.Value{Text: v.Bytes()})
		case f.kind.HasLength():
			to = append(to, ctf.Value{Bits: uint64(len(v.Bytes()))}, ctf.Value{Text: v.Bytes()})
		default:
			to = append(to, ctf.Value{Bits: f.kind.Extend(v.Bits(), f.kind.Size())})
		}
	}
	return to
}

// reason says why there is no value, as a string of CTF can.
func reason(f *event.Field, v *event.Value) []byte {
	err := v.Err()
	if err == nil {
		err = f.Unavailable.Err()
	}
	if err == nil {
		return []byte("unknown kind")
	}
	return comm(err.Error())
}

// comm is a text up to the first NUL.
func comm(s string) []byte {
	text, _, _ := bytes.Cut([]byte(s), []byte{0})
	return text
}

// newNames returns names for fields that metadata can have, each once, also with "_length" behind it.
func newNames(fields []event.Field, layouts []layout) []string {
	names := make([]string, len(fields))
	taken := map[string]bool{}
	for i, f := range fields {
		base := asWord(f.Name)
		name := base
		for n := 2; taken[name] || taken[name+"_length"]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		taken[name] = true
		if layouts[i].kind.HasLength() {
			taken[name+"_length"] = true
		}
		names[i] = name
	}
	return names
}

// asWord replaces what names of metadata cannot have.
func asWord(s string) string {
	if s == "" {
		return "field"
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
