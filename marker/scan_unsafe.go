package marker

import (
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/point"
)

// scan returns the markers in the program's data, in the order of their addresses.
func scan() (found []*Marker) {
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer) {
		if m := (*Marker)(p); m.version == version && m.arity <= markerabi.MaxArity {
			found = append(found, m)
		}
	})
	return found
}

func (m *Marker) address() uintptr { return uintptr(unsafe.Pointer(m)) }

// funcName returns the name of the probe's function.
func (b *byName) funcName() string {
	return point.FuncName(point.Entry(*(*point.Func)(unsafe.Pointer(&b.fn))))
}
