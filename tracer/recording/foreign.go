package recording

import (
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
)

// foreignClass describes a kind of events of another tracer: its own context, and its payload.
func foreignClass(e *ctf.EventClass) *class {
	c := &class{point: newPoint(e.Name)}
	for _, s := range []*ctf.Struct{e.Context, e.Payload} {
		if s == nil {
			continue
		}
		for i := range s.Fields {
			f := &s.Fields[i]
			if isLength(s.Fields, i) {
				continue
			}
			c.point.Fields = append(c.point.Fields, event.Field{Name: f.Name, Kind: kindOf(f.Type), Verb: verbOf(f.Type)})
		}
	}
	return c
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
		return event.Invalid
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
	for _, s := range []*ctf.Value{&e.Raw.Context, &e.Raw.Payload} {
		t, ok := s.Type.(*ctf.Struct)
		if !ok {
			continue
		}
		for i := range s.Elems {
			if isLength(t.Fields, i) {
				continue
			}
			raw := &s.Elems[i]
			k := kindOf(raw.Type)
			v := event.Number(k, raw.Bits)
			nested := (*ctf.Value)(nil)
			switch k {
			case event.Invalid:
				v, nested = event.Value{}, raw
			case event.String, event.Bytes:
				text := raw.Text
				if k == event.String { // an array of characters is filled up
					text = untilNUL(text)
				}
				v = event.Text(k, text, len(text))
			}
			e.Values = append(e.Values, v)
			e.Nested = append(e.Nested, nested)
		}
	}
}

func untilNUL(text []byte) []byte {
	for i, c := range text {
		if c == 0 {
			return text[:i]
		}
	}
	return text
}
