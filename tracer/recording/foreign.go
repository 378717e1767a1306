package recording

import (
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
)

// foreignClass describes an event class of another tracer: its own context, its payload, and then
// what it shares with others, so that argN of a payload does not depend on that.
func foreignClass(e *ctf.EventClass) *class {
	c := &class{point: newPoint(e.Name)}
	for n, s := range []*ctf.Struct{e.Context, e.Payload, e.Stream.EventContext, e.Stream.PacketContext} {
		if s == nil {
			continue
		}
		for i := range s.Fields {
			if f := &s.Fields[i]; !isLength(s.Fields, i) && !(n >= shared && isKnown(f.Name)) {
				c.point.Fields = append(c.point.Fields, event.Field{Name: f.Name, Type: typeOf(f.Type), Kind: kindOf(f.Type), Verb: verbOf(f.Type)})
			}
		}
	}
	return c
}

// shared is the first of an event's structs that others have, too.
const shared = 2

// isKnown reports whether a field of a shared context is not shown as a field, because it is a part of an
// event.Event or means something to the reader of packets only.
func isKnown(name string) bool {
	switch name {
	case "timestamp_begin", "timestamp_end", "content_size", "packet_size", "packet_seq_num", "events_discarded", "cpu_id":
		return true
	}
	return contextNames[name] != ""
}

// Enum is the Type of fields of other tracers' events that have labels for numbers.
const Enum = "enum"

func typeOf(t ctf.Type) string {
	if _, ok := t.(*ctf.Enum); ok {
		return Enum
	}
	return ""
}

// isLength reports whether a field says nothing but how long the next one is, as LTTng and Writer have them.
func isLength(fields []ctf.Field, i int) bool {
	if i+1 == len(fields) {
		return false
	}
	_, ok := fields[i+1].Type.(*ctf.Sequence)
	name := fields[i+1].Name
	return ok && (fields[i].Name == name+"_length" || fields[i].Name == "_"+name+"_length")
}

// kindOf returns the kind of a basic type, event.Invalid for others.
func kindOf(t ctf.Type) event.Kind {
	switch t := t.(type) {
	case *ctf.Integer:
		if t.Signed {
			return event.Int64
		}
		return event.Uint64
	case *ctf.Enum:
		return kindOf(&t.Integer)
	case *ctf.Float:
		if t.Size == 32 {
			return event.Float32
		}
		return event.Float64
	}
	switch v := (ctf.Value{Type: t}); {
	case v.IsText():
		return event.String
	case v.IsBytes():
		return event.Bytes
	}
	return event.Invalid
}

func verbOf(t ctf.Type) string {
	if i, ok := t.(*ctf.Integer); ok {
		switch i.Base {
		case 2:
			return "%b"
		case 8:
			return "%o"
		case 16:
			return "%x"
		}
	}
	return ""
}

// foreign takes the values of another tracer's event.
func (c *class) foreign(e *Event) {
	for n, s := range []*ctf.Value{&e.Raw.Context, &e.Raw.Payload, &e.Raw.StreamContext, &e.Raw.PacketContext} {
		t, ok := s.Type.(*ctf.Struct)
		if !ok {
			continue
		}
		for i := range s.Elems {
			if !isLength(t.Fields, i) && !(n >= shared && isKnown(t.Fields[i].Name)) {
				v, nested := basic(&s.Elems[i])
				e.Values, e.Nested = append(e.Values, v), append(e.Nested, nested)
			}
		}
	}
}

// basic returns a value as one of an event, and raw where that does not express it.
func basic(raw *ctf.Value) (v event.Value, nested *ctf.Value) {
	k := kindOf(raw.Type)
	switch k {
	case event.Invalid:
		return event.Value{}, raw
	case event.String, event.Bytes:
		text := raw.Text
		if k == event.String { // an array of characters is filled up
			text = untilNUL(text)
		}
		return event.Text(k, text, len(text)), nil
	}
	if _, ok := raw.Type.(*ctf.Enum); ok {
		nested = raw
	}
	return event.Number(k, raw.Bits), nested
}

func untilNUL(text []byte) []byte {
	for i, c := range text {
		if c == 0 {
			return text[:i]
		}
	}
	return text
}
