package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
)

// Event is an event of a trace. It is valid until the next call of Next.
type Event struct {
	event.Event
	// Raw is the event as the trace has it. Fields of other tracers' events that are no basic values have the
	// kind event.Invalid, and are there: Nested points to them. Enumerations are integers, and
	// Nested points to them for their labels.
	Raw *ctf.Event
	// Nested are, for each of Values, what it cannot express; nil for basic values.
	Nested []*ctf.Value
}

// Reader reads the events of traces in the order of time. It is a source.Source, for one goroutine at a time.
type Reader struct {
	// Traces are what is read.
	Traces []*ctf.Trace

	events  *ctf.Reader
	origin  int64 // the time of day, in nanoseconds since 1970, at which Event.Time is 0
	classes map[*ctf.EventClass]*class
	event   Event
	damage  []error // the ends of streams that Read has met
}

var _ source.Source = (*Reader)(nil)

// Open opens the trace in a directory, or all that are below it, as LTTng makes them. With an error there may be
// a Reader of what can be read nevertheless.
func Open(path string) (*Reader, error) {
	dirs, err := ctf.Find(path)
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, errors.New(path + " holds no trace: there is no file named metadata")
	}
	r := &Reader{classes: map[*ctf.EventClass]*class{}}
	var errs []error
	for _, dir := range dirs {
		t, err := ctf.Open(filepath.Clean(dir))
		if err != nil {
			errs = append(errs, err)
		}
		if t == nil {
			continue
		}
		if of := copied(t, r.Traces); of != nil {
			errs = append(errs, fmt.Errorf("%s is not read: %w, %s", t.Dir, ErrCopy, of.Dir))
			continue
		}
		r.Traces = append(r.Traces, t)
	}
	err = errors.Join(errs...)
	if len(r.Traces) == 0 {
		return nil, err
	}
	r.events = ctf.NewReader(r.Traces...)
	r.origin = originOf(r.Traces[0])
	return r, err
}

// Close closes the files.
func (r *Reader) Close() { r.events.Close() }

// Points returns the points of all event classes that the traces describe, each name once for each
// set of fields.
func (r *Reader) Points() []*event.Point {
	var all []*event.Point
	for _, t := range r.Traces {
		for _, s := range t.Classes {
			for _, e := range s.Events {
				all = append(all, r.class(t, e).point)
			}
		}
	}
	return all
}

// Losses returns how many events the tracers lost, in the packets that were read so far, by stream. Traces of other
// tracers have no reasons. The error is nil.
func (r *Reader) Losses() ([]source.Loss, error) {
	var lost []source.Loss
	for _, t := range r.Traces {
		for _, s := range t.Streams {
			lost = appendLosses(lost, s)
		}
	}
	return lost, nil
}

// LostPackets returns the number of packets missing between those that were read so far. Losses does not count
// their events, whose number is unknown.
func (r *Reader) LostPackets() (n uint64) {
	for _, t := range r.Traces {
		for _, s := range t.Streams {
			n += s.LostPackets()
		}
	}
	return n
}

// appendLosses appends the losses of a stream: those for which its last packet has a reason, and the rest.
func appendLosses(lost []source.Loss, s *ctf.Stream) []source.Loss {
	context, left := s.PacketContext(), s.Discarded()
	l := source.Loss{Stream: s.Files[0]}
	if v := context.Get("cpu_id"); v != nil {
		l.CPU = int(int32(v.Bits))
	}
	if t, ok := context.Type.(*ctf.Struct); ok {
		for i := range context.Elems {
			reason, ok := strings.CutPrefix(t.Fields[i].Name, lostPrefix)
			n := min(context.Elems[i].Bits, left)
			if !ok || n == 0 {
				continue
			}
			left -= n
			l.Reason, l.Count = reason, n
			lost = append(lost, l)
		}
	}
	if l.Reason, l.Count = "", left; left > 0 {
		lost = append(lost, l)
	}
	return lost
}

// Order is by time, of all traces together.
func (r *Reader) Order() source.Order { return source.ByTime }

// Read is Next for a source.Source. A stream that cannot be read to its end does not keep it from those of others:
// its error comes after all of them, in place of io.EOF.
func (r *Reader) Read(ctx context.Context, e *event.Event) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := r.Next()
		switch {
		case err == nil:
			*e = next.Event
			return nil
		case !errors.Is(err, io.EOF):
			r.damage = append(r.damage, err)
		case r.damage != nil:
			return errors.Join(r.damage...)
		default:
			return io.EOF
		}
	}
}

// Next returns the next event, and io.EOF after the last. Any other error is the end of one stream: events of the others follow.
func (r *Reader) Next() (*Event, error) {
	raw, err := r.events.Next()
	if err != nil {
		return nil, err
	}
	c := r.class(nil, raw.Class)
	e := &r.event
	*e = Event{Raw: raw, Nested: e.Nested[:0], Event: event.Event{
		Time: time.Duration(raw.Time - r.origin), Point: c.point, Values: e.Values[:0],
	}}
	e.circumstances()
	if c.layouts != nil {
		e.who(&raw.Context)
		c.own(e)
	} else {
		c.foreign(e)
	}
	return e, nil
}

// Clock converts the times of events, which are of the first trace's clock, to the time of day.
func (r *Reader) Clock() source.Clock { return clockAt(r.origin) }

// clockAt is a clock that was 0 so many nanoseconds after 1970.
type clockAt int64

func (c clockAt) Wall(t time.Duration) time.Time { return time.Unix(0, int64(c)+int64(t)) }

// originOf returns the time of day at which a trace's clock was 0, 0 when it has none.
func originOf(t *ctf.Trace) int64 {
	if len(t.Clocks) == 0 {
		return 0
	}
	ns, _ := t.Clocks[0].Nanoseconds(0)
	return ns
}

// circumstances takes what contexts say of who and where, by waymark's names and LTTng's.
func (e *Event) circumstances() {
	if v := e.Raw.PacketContext.Get("cpu_id"); v != nil {
		e.CPU = int(int32(v.Bits))
	}
	e.who(&e.Raw.PacketContext)
	e.who(&e.Raw.StreamContext)
}

// contextNames are the fields of contexts that become part of an event.Event, by waymark's names and LTTng's.
var contextNames = map[string]string{
	"pid": "pid", "vpid": "pid", "tid": "tid", "vtid": "tid", "comm": "comm", "procname": "comm", "goroutine": "goroutine",
}

// Has reports whether events of a point have a pid, tid, comm or goroutine, as name says. Without it, the
// value in events is the zero one.
func (r *Reader) Has(p *event.Point, name string) bool {
	for e, c := range r.classes {
		if c.point != p {
			continue
		}
		for _, s := range []*ctf.Struct{e.Stream.PacketContext, e.Stream.EventContext} {
			if s != nil && slices.ContainsFunc(s.Fields, func(f ctf.Field) bool { return contextNames[f.Name] == name }) {
				return true
			}
		}
	}
	return false
}

func (e *Event) who(context *ctf.Value) {
	t, ok := context.Type.(*ctf.Struct)
	if !ok {
		return
	}
	for i := range context.Elems {
		v := &context.Elems[i]
		switch contextNames[t.Fields[i].Name] {
		case "pid":
			e.PID = int(int32(v.Bits))
		case "tid":
			e.TID = int(int32(v.Bits))
		case "comm":
			text, _, _ := strings.Cut(string(v.Text), "\x00")
			e.Comm = text
		case "goroutine":
			e.Goroutine = int64(v.Bits)
		}
	}
}

// class is what is known of an event class.
type class struct {
	point   *event.Point
	layouts []layout // of waymark's own; nil for those of others
}

// class returns what is known of an event class; t may be nil once it is known.
func (r *Reader) class(t *ctf.Trace, e *ctf.EventClass) *class {
	if c := r.classes[e]; c != nil {
		return c
	}
	if t == nil {
		for _, trace := range r.Traces {
			for _, s := range trace.Classes {
				if s == e.Stream {
					t = trace
				}
			}
		}
	}
	c := ownClass(t, e)
	if c == nil {
		c = foreignClass(e)
	}
	r.classes[e] = c
	return c
}

func newPoint(name string) *event.Point {
	p := event.Declared(name, "")
	return &p
}

// ownClass returns an event class that a Writer recorded, nil for those of others.
func ownClass(t *ctf.Trace, e *ctf.EventClass) *class {
	entry := t.Get(describedAs(e))
	var d description
	if entry == nil || json.Unmarshal([]byte(entry.Text), &d) != nil || e.Payload == nil {
		return nil
	}
	c := &class{point: newPoint(e.Name), layouts: []layout{}}
	c.point.Format = d.Format
	at := 0
	for _, fd := range d.Fields {
		k := fd.Kind
		if fd.As != event.Invalid {
			k = fd.As
		}
		layout, used := layoutIn(e.Payload.Fields[at:], k)
		if used == 0 {
			return nil // it says other things than the types do
		}
		at += used
		c.layouts = append(c.layouts, layout)
		c.point.Fields = append(c.point.Fields, fd.Field)
	}
	if at != len(e.Payload.Fields) {
		return nil
	}
	return c
}

// layoutIn returns the layout that a value of a kind has in the next fields, and how many of them it is.
func layoutIn(fields []ctf.Field, k event.Kind) (layout, int) {
	if len(fields) == 0 {
		return layout{}, 0
	}
	switch t := fields[0].Type.(type) {
	case *ctf.Struct:
		if len(t.Fields) == 1 && t.Fields[0].Name == "unavailable" {
			return layout{event.Invalid, missing}, 1
		}
		if len(t.Fields) == 3 && k.HasLength() {
			return layout{k, cut}, 1
		}
	case *ctf.String:
		if k == event.String {
			return layout{k, plain}, 1
		}
	case *ctf.Integer, *ctf.Enum, *ctf.Float:
		if k.HasLength() && len(fields) > 1 {
			if _, ok := fields[1].Type.(*ctf.Sequence); ok {
				return layout{k, withNUL}, 2
			}
		}
		if !k.HasLength() && k.IsValid() {
			return layout{k, plain}, 1
		}
	}
	return layout{}, 0
}

// own takes the values of an event that a Writer recorded.
func (c *class) own(e *Event) {
	elems := e.Raw.Payload.Elems
	for _, f := range c.layouts {
		var v event.Value
		raw := &elems[0]
		if f.encoding == withNUL || f.encoding == plain && f.kind == event.Bytes {
			raw, elems = &elems[1], elems[1:]
		}
		elems = elems[1:]
		switch {
		case f.encoding == missing:
			v = event.Missing(event.Reason(raw.Elems[0].Text))
		case f.encoding == cut:
			v = event.Text(f.kind, raw.Elems[1].Text, int(int64(raw.Elems[2].Bits)))
		case f.kind.HasLength():
			v = event.Text(f.kind, raw.Text, len(raw.Text))
		default:
			v = event.Number(f.kind, raw.Bits)
		}
		e.Values = append(e.Values, v)
		e.Nested = append(e.Nested, nil)
	}
}
