package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// eventChoice is which events of a trace are shown.
type eventChoice struct {
	selected map[*tracer.Marker]*filter.Filter // nil without a condition
}

// chooseEvents returns the choice of markers by patterns, and of their events by a condition.
func chooseEvents(markers []*tracer.Marker, patterns []string, where string) (*eventChoice, error) {
	c := &eventChoice{selected: map[*tracer.Marker]*filter.Filter{}}
	selected, err := tracer.Select(markers, patterns)
	if err != nil {
		return nil, err
	}
	var expr *filter.Expr
	if where != "" {
		if expr, err = filter.Parse(where); err != nil {
			return nil, err
		}
	}
	missing := map[string]bool{}
	found := map[string]bool{}
	for _, m := range selected {
		c.selected[m] = nil
		if expr == nil {
			continue
		}
		f, err := expr.Bind(func(name string) (event.Kind, error) {
			k, ok := kindOfName(m, name)
			found[name] = found[name] || ok
			missing[name] = true
			return k, nil
		})
		if err != nil {
			return nil, fmt.Errorf("--where: %s: %w", m.FullName(), err)
		}
		c.selected[m] = f
	}
	for name := range missing {
		if !found[name] && len(selected) > 0 {
			return nil, withHint(fmt.Errorf("--where: no marker of the trace has a field %s", name),
				"every event has comm, pid, tid, cpu and goroutine")
		}
	}
	return c, nil
}

// kindOfName returns the kind of what a condition names in the events of a marker.
func kindOfName(m *tracer.Marker, name string) (event.Kind, bool) {
	if i := fieldIndex(m, name); i >= 0 {
		return m.Fields[i].Kind, true
	}
	switch name {
	case "pid", "tid", "cpu", "goroutine":
		return event.Int64, true
	case "comm":
		return event.String, true
	}
	return event.Invalid, false
}

// fieldIndex returns the field of a name, or of argN, -1 for none.
func fieldIndex(m *tracer.Marker, name string) int {
	if i := slices.IndexFunc(m.Fields, func(f tracer.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	if digits, ok := strings.CutPrefix(name, "arg"); ok {
		if n, err := strconv.Atoi(digits); err == nil && 1 <= n && n <= len(m.Fields) {
			return n - 1
		}
	}
	return -1
}

// holds reports whether the patterns select an event, and whether the condition holds of it.
func (c *eventChoice) holds(e *recording.Event) (ok, selected bool) {
	f, selected := c.selected[e.Marker]
	if !selected || f == nil {
		return selected, selected
	}
	return f.Eval(func(i int) (filter.Value, bool) { return valueOfName(e, f.Vars[i].Name) }), true
}

func valueOfName(e *recording.Event, name string) (filter.Value, bool) {
	if i := fieldIndex(e.Marker, name); i >= 0 {
		v := &e.Values[i]
		return filter.Value{Bits: v.Bits, Text: v.Text}, v.Err == nil && e.Nested[i] == nil
	}
	switch name {
	case "pid":
		return filter.Value{Bits: uint64(int64(e.PID))}, true
	case "tid":
		return filter.Value{Bits: uint64(int64(e.TID))}, true
	case "cpu":
		return filter.Value{Bits: uint64(int64(e.CPU))}, true
	case "goroutine":
		return filter.Value{Bits: uint64(e.Goroutine)}, true
	case "comm":
		return filter.Value{Text: []byte(e.Comm)}, true
	}
	return filter.Value{}, false
}
