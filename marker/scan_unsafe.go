package marker

import (
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// scan returns the markers in the program's data.
func scan() (found []*Marker) {
	var written []*Marker
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer, initialized bool) {
		switch m := (*Marker)(p); {
		case !initialized:
			written = append(written, m)
		case m.version == version && m.arity <= markerabi.MaxArity: // not a table of magics
			found = append(found, m)
		}
	})
	return append(found, settled(written)...)
}

// settled filters markers that the program, not the compiler, initializes. It returns those that are
// not being written now: their headers are complete and the same a moment later.
//
//go:norace
func settled(written []*Marker) (whole []*Marker) {
	for _, m := range point.Settled(written, unsafe.Offsetof(Marker{}.version), unsafe.Offsetof(Marker{}.state)) {
		if point.IsWhole(m.name) && point.IsWhole(m.format) && m.name != "" && m.version == version && m.arity <= markerabi.MaxArity {
			whole = append(whole, m)
		}
	}
	return whole
}

func (m *Marker) address() uintptr { return uintptr(unsafe.Pointer(m)) }

// probe returns a probe that calls b's function for the marker.
func (b *byName) probe(m *Marker, gone func()) *point.Probe {
	return &point.Probe{Point: m.quoted(), Event: point.Event(b), Func: b.fn, Gone: gone}
}

func hidden(fn func(*Event)) point.Func { return *(*point.Func)(unsafe.Pointer(&fn)) }
