package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// readings are what is fetched at one site, one for each field; nil where the site has no such.
type readings []*variable.Reading

// simpleFields adds the fields of some expressions, and what to fetch of them at each of the
// marker's sites. frames are the sites', nil where there is no scope. The verbs are those of the
// marker's format, one for each of the first expressions; nil, that the marker has no such variable
// is no field without a value. known[i]
// becomes nil when expression i names something anywhere; if it is errUnknown, else why not.
func (m *Marker) simpleFields(info *debuginfo.File, frames []*variable.Frame, reasons []error, exprs []string, verbs []string, known []error) {
	for i, expr := range exprs {
		if verbs == nil && !slices.ContainsFunc(frames, func(f *variable.Frame) bool {
			return f != nil && !errors.Is(f.Lookup(expr).Err, variable.ErrNoVariable)
		}) {
			if known[i] == errUnknown && len(frames) > 0 {
				known[i] = fmt.Errorf("%w where the markers are", variable.ErrNoVariable)
			}
			continue // one that was asked for besides, and that this marker's places do not have
		}
		verb := ""
		if i < len(verbs) {
			verb = verbs[i]
		}
		first := len(m.Fields)
		for site, frame := range frames {
			var found []variable.Reading
			if frame == nil {
				found = []variable.Reading{{Name: plain(expr), Err: reasons[site]}}
			} else {
				v := frame.Lookup(expr)
				found = v.Readings(lastOf(verb))
				looked(info, site+1)
				if v.Type != nil || v.Err == nil {
					known[i] = nil
				} else if known[i] == errUnknown {
					known[i] = v.Err
				}
			}
			for j := range found {
				m.addReading(site, &found[j], first, verb)
			}
		}
		m.dropUnknown(first)
	}
}

// looked lets go of what was read of the last places that were looked up, n in all, every so often:
// the kernel maps sixteen pages around each byte.
func looked(info *debuginfo.File, n int) {
	if n%32 == 0 {
		info.Release()
	}
}

func lastOf(verb string) byte {
	if verb == "" {
		return 0
	}
	return verb[len(verb)-1]
}

// addReading notes what is fetched at a site; fields from first on are of the same expression.
func (m *Marker) addReading(site int, r *variable.Reading, first int, verb string) {
	i := slices.IndexFunc(m.Fields[first:], func(f event.Field) bool { return f.Name == r.Name })
	if i < 0 {
		i = len(m.Fields) - first
		m.Fields = append(m.Fields, event.Field{Name: r.Name, Unavailable: event.ReasonOf(r.Err)})
		for s := range m.readings {
			m.readings[s] = append(m.readings[s], nil)
		}
	}
	f := &m.Fields[first+i]
	m.readings[site][first+i] = r
	if f.Kind == event.Invalid && r.Type != nil {
		typeField(f, r, verb)
	}
	if r.Err == nil {
		f.Unavailable = ""
	}
}

// dropUnknown removes the field of a whole structure that is somewhere not available, where
// other sites have its members; and gives the fields that have no type one.
func (m *Marker) dropUnknown(first int) {
	for i := len(m.Fields) - 1; i >= first; i-- {
		f := &m.Fields[i]
		if f.Kind == event.Invalid && f.Unavailable != "" && len(m.Fields)-first > 1 {
			m.Fields = slices.Delete(m.Fields, i, i+1)
			for s := range m.readings {
				whole := m.readings[s][i]
				m.readings[s] = slices.Delete(m.readings[s], i, i+1)
				for j := first; j < len(m.readings[s]); j++ {
					if m.readings[s][j] == nil {
						m.readings[s][j] = whole
					}
				}
			}
		}
	}
	for i := first; i < len(m.Fields); i++ {
		if f := &m.Fields[i]; f.Kind == event.Invalid {
			f.Kind, f.Type = event.Uint64, or(f.Type, "?")
		}
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// ReadingKind is what a reading's values are.
func ReadingKind(r *variable.Reading) event.Kind {
	switch {
	case r.Elem != nil:
		return event.Bytes
	case r.Pointer != nil:
		return event.String
	}
	return KindOf(r.Type)
}

// typeField sets the type of a field to that of its variable.
func typeField(f *event.Field, r *variable.Reading, verb string) {
	t := r.Type
	f.Type, f.Verb = t.Name, verb
	switch {
	case r.Elem != nil:
		if f.Kind, f.Verb = event.Bytes, ""; !(t.IsGo() && r.Elem.Class == variable.Unsigned && r.Elem.Size == 1) {
			f.Elem, f.Names = KindOf(r.Elem), r.Elem.Names
		}
	case r.Pointer != nil:
		f.Kind = event.String
	default:
		f.Kind, f.Names = KindOf(t), t.Names
		if t.Class == variable.Char && verb == "" {
			f.Verb = "%c"
		}
	}
}

// KindOf is the kind of numbers of a type.
func KindOf(t *variable.Type) event.Kind {
	signed := map[int64]event.Kind{1: event.Int8, 2: event.Int16, 4: event.Int32, 8: event.Int64}
	unsigned := map[int64]event.Kind{1: event.Uint8, 2: event.Uint16, 4: event.Uint32, 8: event.Uint64}
	switch t.Class {
	case variable.Signed:
		return event.KindOfType(signed[t.Size], t.Name)
	case variable.Unsigned:
		return unsigned[t.Size]
	case variable.Char, variable.Enum:
		if t.Signed {
			return signed[t.Size]
		}
		return unsigned[t.Size]
	case variable.Bool:
		return event.Bool
	case variable.Float:
		if t.Size == 4 {
			return event.Float32
		}
		return event.Float64
	case variable.Pointer:
		return event.Pointer
	}
	return event.Invalid
}

// plain is an expression without the $ that people put before it.
func plain(expr string) string { return section.Plain(expr) }
