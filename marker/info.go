package marker

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// Info describes a marker of this program at one moment.
type Info struct {
	Name   string // as declared, provider:name
	Format string
	// Fields have their types once the marker's own code ran: its first pass while enabled,
	// or its Register. Before that only their verbs are known.
	Fields []Field
	// Err reports a wrong declaration; nil if no error is known.
	Err error

	Armed  int      // how often this process armed it
	Kernel int      // the reference counter: tracers that have armed it through the kernel
	Probes []string // the names of the connected functions, in the order they are called
	// Pending is set on a name for which probes wait and no marker was found.
	Pending bool

	Hits   uint64 // passes while armed, exact once no goroutine is passing; recorders count their own
	Nested uint64 // of these, made by a probe of the marker itself, which then calls no probe
	Panics uint64 // probes that panicked and were disconnected

	// Address is the marker's address, from which package introspect finds its variable; 0
	// while the marker is pending.
	Address uintptr
}

// All returns every marker of the program, sorted by name, and the names that probes wait
// for. It finds package-level markers by reading the program's data, a few milliseconds for
// the largest of programs; other markers once they were used.
func All() []Info {
	known.refresh()
	known.Lock()
	defer known.Unlock()
	var all []Info
	for full, n := range known.names {
		for _, m := range n.markers {
			all = append(all, m.Info())
		}
		if len(n.markers) == 0 && len(n.probes) > 0 {
			i := Info{Name: full, Armed: n.arms, Pending: true}
			for _, p := range n.probes {
				i.Probes = append(i.Probes, point.FuncName(point.Entry(p.byName.fn)))
			}
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// Info describes the marker as it is now.
func (m *Marker) Info() Info {
	armed := atomic.LoadUint32(&m.armed)
	i := Info{Name: m.name, Format: m.format, Kernel: int(armed & point.KernelHalf), Address: m.address()}
	s := m.loaded()
	if s != nil {
		i.Armed, i.Hits, i.Nested, i.Panics = s.Arms(), s.Hits(), s.Nested(), s.Panics()
		for _, p := range s.Probes() {
			i.Probes = append(i.Probes, p.FuncName())
		}
		if d := s.declared.Load(); d != nil {
			i.Fields, i.Err = d.fields, d.err
			return i
		}
	}
	verbs, err := event.ParseFormat(m.format)
	if err == nil {
		_, _, err = event.ParseName(m.name)
	}
	if err != nil {
		i.Err = point.Wrap(m.quoted(), err)
	}
	for _, v := range verbs {
		i.Fields = append(i.Fields, Field{Name: v.Name, Verb: v.Text})
	}
	return i
}
