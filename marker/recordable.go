package marker

import (
	"slices"
	"strconv"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// A store, and all that a recorder needs to find the program's markers.
func init() { point.Markers = recordables }

func recordables() []point.Recordable {
	known.refresh()
	known.Lock()
	defer known.Unlock()
	all := make([]point.Recordable, 0, len(known.all))
	for m := range known.all {
		all = append(all, m.recordable())
	}
	return all
}

func (m *Marker) recordable() point.Recordable {
	s := m.stateOf()
	return point.Recordable{
		What: "marker", Name: m.name, Format: m.format, State: &s.State, Armed: &m.armed, Names: m.fieldNames, Declared: s.arguments,
	}
}

func (m *Marker) fieldNames() (names []string, err error) {
	verbs, err := event.ParseFormat(m.format)
	for _, v := range verbs {
		names = append(names, v.Name)
	}
	return names, err
}

// arguments describes the marker's arguments as far as they are known.
func (s *state) arguments() (*point.Declaration, error) {
	d := s.declared.Load()
	switch {
	case d == nil:
		return nil, nil
	case d.err != nil:
		return nil, d.err
	}
	p := &point.Declaration{Fields: slices.Clone(d.fields)}
	for i := range p.Fields {
		f := &p.Fields[i]
		f.Offset, f.Size = int(d.offsets[i]), f.Kind.SizeIn(strconv.IntSize/8)
	}
	return p, nil
}
