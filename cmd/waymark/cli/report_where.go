package cli

import (
	"fmt"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// eventChoice is which events of a trace are shown.
type eventChoice struct {
	selected map[*event.Point]*filter.Filter // nil without a condition
}

// selectPoints is tracer.Select for the points of a trace.
func selectPoints(points []*event.Point, patterns []string) ([]*event.Point, error) {
	markers, of := make([]*tracer.Marker, len(points)), map[*tracer.Marker]*event.Point{}
	for i, p := range points {
		markers[i] = &tracer.Marker{Point: *p}
		of[markers[i]] = p
	}
	markers, err := tracer.Select(markers, patterns)
	selected := make([]*event.Point, len(markers))
	for i, m := range markers {
		selected[i] = of[m]
	}
	return selected, err
}

// chooseEvents returns the choice of points by patterns, and of their events by a condition.
func chooseEvents(points []*event.Point, patterns []string, where string) (*eventChoice, error) {
	c := &eventChoice{selected: map[*event.Point]*filter.Filter{}}
	selected, err := selectPoints(points, patterns)
	if err != nil {
		return nil, err
	}
	var expr *filter.Expr
	if where != "" {
		if expr, err = filter.Parse(where); err != nil {
			return nil, err
		}
	}
	missing, nested := map[string]bool{}, map[string]bool{}
	found := map[string]bool{}
	for _, p := range selected {
		c.selected[p] = nil
		if expr == nil {
			continue
		}
		f, err := expr.Bind(func(name string) (event.Kind, error) {
			k, ok := kindOfName(p, name, expr.ComparesText(name))
			nested[name] = nested[name] || ok && k == event.Invalid
			found[name] = found[name] || ok && k != event.Invalid
			missing[name] = true
			return k, nil
		})
		if err != nil {
			return nil, fmt.Errorf("--where: %s: %w", p.FullName(), err)
		}
		c.selected[p] = f
	}
	for name := range missing {
		if !found[name] && nested[name] {
			return nil, withHint(fmt.Errorf("--where: %s is neither a number nor a text", name), "structs, arrays and variants are printed, and not compared")
		}
		if !found[name] && len(selected) > 0 {
			return nil, withHint(fmt.Errorf("--where: no marker of the trace has a field %s", name),
				"every event has comm, pid, tid, cpu and goroutine")
		}
	}
	return c, nil
}

// kindOfName returns the kind of the value with a name in the events of a point. That of an enumeration is a text
// where a condition compares it with one.
func kindOfName(p *event.Point, name string, text bool) (event.Kind, bool) {
	if i := source.Field(p, name); i >= 0 {
		if text && p.Fields[i].Type == recording.Enum {
			return event.String, true
		}
		return p.Fields[i].Kind, true
	}
	v, _ := source.Builtin(&event.Event{}, name)
	return v.Kind(), v.Kind() != event.Invalid
}

// holds reports whether the patterns select an event, and whether the condition holds of it.
func (c *eventChoice) holds(e *recording.Event) (ok, selected bool) {
	f, selected := c.selected[e.Point]
	if !selected || f == nil {
		return selected, selected
	}
	return f.Eval(func(i int) (filter.Value, bool) { return valueOfName(e, &f.Vars[i]) }), true
}

func valueOfName(e *recording.Event, variable *filter.Var) (filter.Value, bool) {
	if i := source.Field(e.Point, variable.Name); i >= 0 {
		v := &e.Values[i]
		if n := e.Nested[i]; n != nil && variable.Kind == event.String {
			return filter.Value{Text: enumLabel(n)}, true
		}
		return filter.Value{Bits: v.Bits(), Text: v.Bytes()}, v.Err() == nil && v.Kind() != event.Invalid
	}
	v, _ := source.Builtin(&e.Event, variable.Name)
	return filter.Value{Bits: v.Bits(), Text: v.Bytes()}, v.Kind() != event.Invalid
}

// enumLabel returns the first label of an enumeration's value, as reports show it; nothing for a value without.
func enumLabel(v *ctf.Value) []byte {
	if t, ok := v.Type.(*ctf.Enum); ok {
		if names := t.Names(nil, v.Bits); len(names) > 0 {
			return []byte(names[0])
		}
	}
	return nil
}
