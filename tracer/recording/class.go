package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
)

// eventClass is the events of a marker whose values have the same layouts.
type eventClass struct {
	class   *ctf.EventClass
	layouts []layout
	point   *event.Point
	key     string // its layouts, encoded as a key of Channel.classes
}

// layout is how a value is stored in a trace: the kind of the value, and how it is encoded.
type layout struct {
	kind     event.Kind
	encoding encoding
}

type encoding byte

const (
	plain   encoding = iota
	withNUL          // a string that CTF's own strings cannot hold
	cut              // the beginning of a longer one
	missing          // there is an error instead
)

// maxClasses bounds what a target that makes up values can ask for.
const maxClasses = 16 << 10

var errClasses = errors.New("too many event classes")

// layoutOf returns the layout of an event's value.
func layoutOf(f *event.Field, v *event.Value) layout {
	k := v.Kind()
	switch {
	case v.Err() != nil || f.Unavailable != "" || !k.IsValid():
		return layout{event.Invalid, missing}
	case !k.HasLength():
		return layout{k, plain}
	case v.Cut():
		return layout{k, cut}
	case k == event.String && bytes.IndexByte(v.Bytes(), 0) >= 0:
		return layout{k, withNUL}
	}
	return layout{k, plain}
}

// eventClass returns the class of an event. The caller holds mu.
func (c *Channel) eventClass(e *event.Event) (*eventClass, error) {
	fields := e.Point.Fields
	if len(e.Values) != len(fields) {
		return nil, fmt.Errorf("marker %s: %d values for %d fields", e.Point.FullName(), len(e.Values), len(fields))
	}
	c.key = c.key[:0]
	for i := range fields {
		f := layoutOf(&fields[i], &e.Values[i])
		c.key = append(c.key, byte(f.kind), byte(f.encoding))
	}
	if k := c.last; k != nil && k.point == e.Point && k.key == string(c.key) {
		return k, nil
	}
	k := c.classes[e.Point][string(c.key)]
	if k != nil {
		c.last = k
		return k, nil
	}
	if c.events == maxClasses {
		return nil, errClasses
	}
	c.events++
	k = &eventClass{point: e.Point, key: string(c.key)}
	for i := range fields {
		k.layouts = append(k.layouts, layout{event.Kind(c.key[2*i]), encoding(c.key[2*i+1])})
	}
	payload, names := &ctf.Struct{}, newNames(fields, k.layouts)
	for i, f := range k.layouts {
		payload.Fields = append(payload.Fields, f.types(names[i], &fields[i])...)
	}
	var err error
	if k.class, err = c.trace.EventClass(c.class, e.Point.FullName(), payload); err != nil {
		return nil, err
	}
	if err := describe(c.trace, k.class, e.Point, k.layouts); err != nil {
		return nil, err
	}
	if c.classes[e.Point] == nil {
		c.classes[e.Point] = map[string]*eventClass{}
	}
	c.classes[e.Point][k.key] = k
	return k, nil
}

// description is what the types of CTF do not say of an event class: an entry of the environment,
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

// maxNames is how many names of an enumeration's values a trace has: each event class has them.
const maxNames = 256

// describedAs is the name in the environment of what describes an event class.
func describedAs(e *ctf.EventClass) string { return fmt.Sprintf("waymark_%d_%d", e.Stream.ID, e.ID) }

func describe(trace *ctf.Writer, class *ctf.EventClass, p *event.Point, layouts []layout) error {
	d := description{Format: p.Format}
	for i, f := range p.Fields {
		f.Offset, f.Size, f.Unavailable = 0, 0, "" // each event has the reason
		if len(f.Names) > maxNames {
			f.Names = nil
		}
		fd := fieldDescription{Field: f}
		if as := layouts[i].kind; as != f.Kind {
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
