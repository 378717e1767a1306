package marker

import (
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/point"
)

// scan returns the markers in the program's data.
func scan() (found []*Marker) {
	var written []*Marker
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer, initialized bool) {
		switch m := (*Marker)(p); {
		case !initialized:
			written = append(written, m)
		case m.version == version && m.arity <= markerabi.MaxArity: // not somebody's table of magics
			found = append(found, m)
		}
	})
	return append(found, settled(written)...)
}

// settled returns the markers of those that the program writes, rather than the compiler, which
// are not being written now: whose headers are whole and the same a moment later.
//
//go:norace
func settled(written []*Marker) (whole []*Marker) {
	if len(written) == 0 {
		return nil
	}
	type header struct {
		words  [2]uint64
		rest   uint64
		name   string
		format string
	}
	read := func(m *Marker) header {
		return header{m.magic, uint64(m.version)<<8 | uint64(m.arity), m.name, m.format}
	}
	var before []header
	for _, m := range written {
		before = append(before, read(m))
	}
	time.Sleep(time.Millisecond)
	for i, m := range written {
		h, b := read(m), &before[i]
		same := h.words == b.words && h.rest == b.rest && sameString(h.name, b.name) && sameString(h.format, b.format)
		if same && isWhole(h.name) && isWhole(h.format) && h.name != "" && m.version == version && m.arity <= markerabi.MaxArity {
			whole = append(whole, m)
		}
	}
	return whole
}

// sameString compares headers alone: the bytes may not be there yet.
func sameString(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
}

func isWhole(s string) bool { return (unsafe.StringData(s) != nil) == (len(s) > 0) }

func (m *Marker) address() uintptr { return uintptr(unsafe.Pointer(m)) }

// FuncName returns the name of the probe's function.
func (b *byName) FuncName() string {
	return point.FuncName(point.Entry(*(*point.Func)(unsafe.Pointer(&b.fn))))
}
