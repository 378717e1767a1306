package tracer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/wire"
)

var errNoProcesses = errors.New("the agent engine looks at processes: by -p PID or -- COMMAND")

// findAgents returns the markers and tracepoints that the agents of a target's processes tell of.
func findAgents(ctx context.Context, t Target) (all []*Marker, err error) {
	if len(t.pids()) == 0 {
		return nil, errNoProcesses
	}
	known := map[string]*Marker{}
	for _, pid := range t.pids() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := dialAgent(pid)
		if err != nil {
			return nil, err
		}
		points, err := c.points()
		c.close()
		if err != nil {
			return nil, err
		}
		file := &File{Path: c.exe, Go: c.goes, goid: -1}
		for i := range points {
			if p := &points[i]; p.Kind == wire.Marker || p.Kind == wire.Tracepoint {
				m := agentMarker(p, file)
				key := file.Path + "\x00" + m.declared + "\x00" + m.Format
				if known[key] == nil { // twins are two sites of one
					known[key] = m
					all = append(all, m)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Marker) int { return cmp.Compare(a.declared, b.declared) })
	return all, nil
}

func agentMarker(p *Point, file *File) *Marker {
	m := &Marker{Point: event.Declared(p.Name, p.Format), Typed: true, Tracepoint: p.Kind == wire.Tracepoint, File: file, declared: p.Name}
	m.Fields = append(m.Fields, p.Fields...)
	return m
}

// ringMarker is the marker of events in a ring file.
func ringMarker(e *ring.Event, file *File) *Marker {
	return &Marker{Point: e.Point, Typed: true, File: file, declared: e.FullName()}
}

// checkAgent reports whether what was asked for can be done by agents at all.
func checkAgent(t Target, markers []*Marker) error {
	if t.Follow {
		return fmt.Errorf("following children of a process: %w", ErrNotByAgent)
	}
	if len(t.pids()) == 0 {
		return errNoProcesses
	}
	if len(markers) == 0 {
		return errors.New("attaching: no markers are selected")
	}
	for _, m := range markers {
		if m.declared == "" {
			return fmt.Errorf("%s was not found through an agent: give Find and this the same Target.Engine", m.FullName())
		}
	}
	return nil
}

// declaredNames returns the names of markers as patterns, each once.
func declaredNames(markers []*Marker) []string {
	var names []string
	for _, m := range markers {
		if !slices.Contains(names, m.declared) {
			names = append(names, m.declared)
		}
	}
	return names
}
