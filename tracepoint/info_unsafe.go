package tracepoint

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/point"
)

// Info is what there is to know about a tracepoint of this program at one moment.
type Info struct {
	Name string // as declared, provider:name
	// Args are the Go types of the arguments, nil before the first Register: only the
	// tracepoint's own code knows them. Arity is their number in any case.
	Args  []string
	Arity int
	Err   error // what is wrong with the declaration, nil when nothing is known to be

	Armed  int      // probes that are connected: registering arms
	Probes []string // the names of their functions, in the order they are called

	Hits   uint64 // passes while enabled, exact once no goroutine is passing
	Nested uint64 // of these, made by a probe of the tracepoint itself, which then calls no probe
	Panics uint64 // probes that panicked and were disconnected

	// Address is where the tracepoint lies, from which package introspect tells its variable.
	Address uintptr
}

var used point.Set[*Tracepoint]

// All returns every tracepoint of the program, sorted by name. It finds package-level ones
// by reading the program's data, a few milliseconds for the largest of programs; others once
// a probe was registered.
func All() []Info {
	point.Scan([2]uint64{magic0, magic1}, func(p unsafe.Pointer, _ bool) {
		if m := (*Tracepoint)(p); m.version == version && m.arity <= markerabi.MaxArity {
			used.Add(m)
		}
	})
	var all []Info
	for _, m := range used.List() {
		all = append(all, m.Info())
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// Info returns what there is to know about the tracepoint.
func (m *Tracepoint) Info() Info {
	i := Info{Name: m.name, Arity: int(m.arity), Address: uintptr(unsafe.Pointer(m))}
	if _, _, err := field.ParseName(m.name); err != nil {
		i.Err = field.Wrap(m.quoted(), err)
	}
	if s := m.loaded(); s != nil {
		i.Args, i.Err = s.args, s.err
		i.Armed, i.Hits, i.Nested, i.Panics = s.Arms(), s.Hits(), s.Nested(), s.Panics()
		for _, p := range s.Probes() {
			i.Probes = append(i.Probes, p.FuncName())
		}
	}
	return i
}
