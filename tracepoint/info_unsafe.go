package tracepoint

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
)

// Info describes a tracepoint of this program at one moment.
type Info struct {
	Name string // as declared, provider:name
	// Fields are the arguments. They have their types once the tracepoint's own code ran: its Register, or its
	// first pass while it is recorded.
	Fields []Field
	Err    error // reports a wrong declaration; nil if no error is known

	Armed  int      // probes that are connected: registering arms
	Probes []string // the names of their functions, in the order they are called

	Hits   uint64 // hits while a probe was connected, exact once no goroutine is passing; recorders count their own
	Nested uint64 // of these, made by a probe of the tracepoint itself, which then calls no probe
	Panics uint64 // probes that panicked and were disconnected

	// Address is the tracepoint's address, from which package introspect finds its variable.
	Address uintptr
}

// Field describes one argument of a tracepoint: its Name is as declared, argN without, its Type
// is "" as long as it is not known, and its Kind is that of its value in recordings, Pointer for
// addresses. Unavailable is the reason why recordings do not have it. Its Offset and Size are 0.
type Field = event.Field

// All returns every tracepoint of the program, sorted by name. It finds package-level ones
// by reading the program's data, a few milliseconds for the largest of programs; others once
// a probe was registered.
func All() []Info {
	refresh()
	var all []Info
	for _, m := range known.List() {
		all = append(all, m.Info())
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// Info describes the tracepoint as it is now.
func (m *Tracepoint) Info() Info {
	i := Info{Name: m.name, Address: uintptr(unsafe.Pointer(m))}
	var names []string
	names, i.Err = m.fieldNames()
	for _, n := range names {
		i.Fields = append(i.Fields, Field{Name: n})
	}
	s := m.loaded()
	if s == nil {
		return i
	}
	i.Armed, i.Hits, i.Nested, i.Panics = s.Arms(), s.Hits(), s.Nested(), s.Panics()
	for _, p := range s.Probes() {
		i.Probes = append(i.Probes, p.FuncName())
	}
	if d := s.declared.Load(); d != nil {
		i.Fields, i.Err = slices.Clone(d.fields), d.err
		for j := range i.Fields {
			i.Fields[j].Offset, i.Fields[j].Size = 0, 0
		}
	}
	return i
}
