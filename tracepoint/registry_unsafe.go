package tracepoint

import (
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// known has every tracepoint that was found. It is empty, and costs nothing, until the first call of
// All or the first registered probe.
var known point.Set[*Tracepoint]

// A store, and all that a recorder needs to find the program's tracepoints.
func init() { point.Tracepoints = recordables }

// refresh finds the tracepoints that are there by now.
func refresh() {
	var written []*Tracepoint
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer, initialized bool) {
		switch m := (*Tracepoint)(p); {
		case !initialized:
			written = append(written, m)
		case m.isOne():
			m.found()
		}
	})
	for _, m := range point.Settled(written, unsafe.Offsetof(Tracepoint{}.version), unsafe.Sizeof(Tracepoint{})) {
		if m.isWhole() && m.isOne() {
			m.found()
		}
	}
}

// isOne tells a tracepoint from a table of magics.
//
//go:norace
func (m *Tracepoint) isOne() bool { return m.version == version && m.arity <= markerabi.MaxArity }

// isWhole reports whether the texts of a tracepoint that the program may have been writing are there.
//
//go:norace
func (m *Tracepoint) isWhole() bool {
	return m.name != "" && point.IsWhole(m.name) && (len(m.fields) == 0 || unsafe.SliceData(m.fields) != nil)
}

// found makes the tracepoint known.
func (m *Tracepoint) found() {
	if known.Add(m) {
		if found := point.Found.Load(); found != nil {
			(*found)(m.recordable())
		}
	}
}

func recordables() (all []point.Recordable) {
	refresh()
	for _, m := range known.List() {
		all = append(all, m.recordable())
	}
	return all
}

func (m *Tracepoint) recordable() point.Recordable {
	s := m.stateOf()
	return point.Recordable{
		What: "tracepoint", Name: m.name, State: &s.State, Armed: &m.armed, Names: m.fieldNames, Declared: s.arguments,
	}
}

// arguments describes the tracepoint's arguments as far as they are known.
func (s *state) arguments() (*point.Declaration, error) {
	d := s.declared.Load()
	switch {
	case d == nil:
		return nil, nil
	case d.err != nil:
		return nil, d.err
	}
	return &point.Declaration{Fields: d.fields}, nil
}
