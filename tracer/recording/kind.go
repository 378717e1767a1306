package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
)

// kind is the events of a marker whose values have the same forms.
type kind struct {
	class *ctf.EventClass
	forms []form
	point *event.Point
	key   string // its forms, encoded as a key of Channel.kinds
}

// form is the encoding of a value: its kind and its matter.
type form struct {
	kind   event.Kind
	matter matter
}

type matter byte

const (
	plain   matter = iota
	withNUL        // a string that CTF's own strings cannot hold
	cut            // the beginning of a longer one
	missing        // there is an error instead
)

// maxKinds bounds what a target that makes up values can ask for.
const maxKinds = 16 << 10

var errKinds = errors.New("too many kinds of events")

// formOf returns the form of an event's value.
func formOf(f *event.Field, v *event.Value) form {
	k := v.Kind()
	switch {
	case v.Err() != nil || f.Unavailable != "" || !k.IsValid():
		return form{event.Invalid, missing}
	case !k.HasLength():
		return form{k, plain}
	case v.Cut():
		return form{k, cut}
	case k == event.String && bytes.IndexByte(v.Bytes(), 0) >= 0:
		return form{k, withNUL}
	}
	return form{k, plain}
}

// kind returns the kind of an event. The caller holds mu.
func (c *Channel) kind(e *event.Event) (*kind, error) {
	fields := e.Point.Fields
	if len(e.Values) != len(fields) {
		return nil, fmt.Errorf("marker %s: %d values for %d fields", e.Point.FullName(), len(e.Values), len(fields))
	}
	c.key = c.key[:0]
	for i := range fields {
		f := formOf(&fields[i], &e.Values[i])
		c.key = append(c.key, byte(f.kind), byte(f.matter))
	}
	if k := c.last; k != nil && k.point == e.Point && k.key == string(c.key) {
		return k, nil
	}
	k := c.kinds[e.Point][string(c.key)]
	if k != nil {
		c.last = k
		return k, nil
	}
	if c.events == maxKinds {
		return nil, errKinds
	}
	c.events++
	k = &kind{point: e.Point, key: string(c.key)}
	for i := range fields {
		k.forms = append(k.forms, form{event.Kind(c.key[2*i]), matter(c.key[2*i+1])})
	}
	payload, names := &ctf.Struct{}, newNames(fields, k.forms)
	for i, f := range k.forms {
		payload.Fields = append(payload.Fields, f.types(names[i], &fields[i])...)
	}
	var err error
	if k.class, err = c.trace.EventClass(c.class, e.Point.FullName(), payload); err != nil {
		return nil, err
	}
	if err := describe(c.trace, k.class, e.Point, k.forms); err != nil {
		return nil, err
	}
	if c.kinds[e.Point] == nil {
		c.kinds[e.Point] = map[string]*kind{}
	}
	c.kinds[e.Point][k.key] = k
	return k, nil
}

// description is what the types of CTF do not say of a kind of events: an entry of the environment,
// as JSON, whose name is that of describedAs.
type description struct {
	Format string             `json:"format,omitempty"`
	Fields []fieldDescription `json:"fields"`
}

// fieldDescription is a field without the place that its value had in memory.
type fieldDescription struct {
	event.Field
	// As is the kind of the value when it is not the field's.
	As event.Kind `json:"as,omitempty"`
}

// maxNames is how many names of an enumeration's values a trace has: each kind of events has them.
const maxNames = 256

// describedAs is the name in the environment of what describes a kind of events.
func describedAs(e *ctf.EventClass) string { return fmt.Sprintf("waymark_%d_%d", e.Stream.ID, e.ID) }

func describe(trace *ctf.Writer, class *ctf.EventClass, p *event.Point, forms []form) error {
	d := description{Format: p.Format}
	for i, f := range p.Fields {
		f.Offset, f.Size, f.Unavailable = 0, 0, "" // each event has the reason
		if len(f.Names) > maxNames {
			f.Names = nil
		}
		fd := fieldDescription{Field: f}
		if as := forms[i].kind; as != f.Kind {
			fd.As = as
		}
		d.Fields = append(d.Fields, fd)
	}
	text, err := json.Marshal(&d)
	if err == nil {
		trace.AddEnv(Text(describedAs(class), string(text)))
	}
	return err
}
