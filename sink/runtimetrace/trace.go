package runtimetrace

import (
	"context"
	"errors"
	"fmt"
	"runtime/trace"
	"slices"
	"sync/atomic"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/internal/join"
)

// Options choose the markers that go into traces.
type Options struct {
	Log     []string    // patterns of markers, as package sink has them
	Regions []sink.Pair // without a key: a region lies on one goroutine
	Tasks   []sink.Pair
}

// Sink writes into the traces of the runtime until it is closed. Its methods may be called by
// several goroutines at once.
type Sink struct {
	c       sink.Connection
	roles   map[string]*role // by marker; not written after Connect
	tasks   []*task
	regions regions

	// kept is set when something may be open, to be forgotten when tracing has ended.
	kept atomic.Bool

	unended, unbegun, dropped atomic.Uint64
}

// role is the part that a marker plays: it logs, begins or ends.
type role struct {
	sink                     *Sink
	log                      bool
	regionBegins, regionEnds []*region
	taskBegins, taskEnds     []*task
}

func (r *role) ends() bool { return len(r.regionEnds)+len(r.taskEnds) > 0 }

// Connect puts markers into the traces of the runtime from now on. When it returns an error nothing is connected.
func Connect(o Options) (*Sink, error) {
	names, err := sink.Match(o.Log...)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(o.Regions, o.Tasks) {
		if err := p.Check(); err != nil {
			return nil, err
		}
	}
	s := &Sink{roles: map[string]*role{}, regions: newRegions()}
	for _, name := range names {
		s.role(name).log = true
	}
	for _, p := range o.Regions {
		if p.Key != "" {
			return nil, fmt.Errorf("region %q: it cannot have a key, a task can", p)
		}
		q := &region{name: p.String()}
		begin, end := s.role(p.Begin), s.role(p.End)
		begin.regionBegins, end.regionEnds = append(begin.regionBegins, q), append(end.regionEnds, q)
	}
	for _, p := range o.Tasks {
		q := &task{name: p.String(), open: join.NewTable[started]()}
		q.beginKey, q.endKey = p.Keys()
		s.tasks = append(s.tasks, q)
		begin, end := s.role(p.Begin), s.role(p.End)
		begin.taskBegins, end.taskEnds = append(begin.taskBegins, q), append(end.taskEnds, q)
	}
	for name, r := range s.roles {
		if err := s.c.Add(name, event, r); err != nil {
			return nil, errors.Join(err, s.c.Close())
		}
	}
	if err := s.c.Arm(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Sink) role(name string) *role {
	r := s.roles[name]
	if r == nil {
		r = &role{sink: s}
		s.roles[name] = r
	}
	return r
}

// event is the probe of every marker. Ends come before begins, and a log entry lies inside the
// region or task that begins or ends at the same event.
func event(e *marker.Event) {
	r := e.Data().(*role)
	s := r.sink
	if !trace.IsEnabled() {
		s.forget()
		return
	}
	ctx := context.Background()
	if r.ends() {
		var ended []*trace.Task
		for _, t := range r.taskEnds {
			if was, ok := s.endTask(e, t); ok {
				ctx, ended = was.ctx, append(ended, was.task)
			}
		}
		r.write(ctx, e)
		for _, q := range r.regionEnds {
			s.endRegion(e, q)
		}
		for _, t := range ended {
			t.End()
		}
		ctx = context.Background()
	}
	for _, t := range r.taskBegins {
		ctx = s.beginTask(e, t)
	}
	for _, q := range r.regionBegins {
		s.beginRegion(ctx, e, q)
	}
	if !r.ends() {
		r.write(ctx, e)
	}
}

func (r *role) write(ctx context.Context, e *marker.Event) {
	if r.log {
		trace.Log(ctx, e.Name(), e.String())
	}
}

// forget drops open regions and tasks because tracing has ended: in a later trace their ends would
// have no begins.
func (s *Sink) forget() {
	if !s.kept.Load() || !s.kept.CompareAndSwap(true, false) {
		return
	}
	off := func() bool { return !trace.IsEnabled() } // still
	s.regions.open.ClearIf(off)
	for _, t := range s.tasks {
		t.open.ClearIf(off)
	}
}

// Losses counts events that did not become a whole region or task, while the runtime traced.
type Losses struct {
	Unended uint64 // begins without an end, noticed when another begin or an outer end came
	Unbegun uint64 // ends without a begin, or with one before the trace
	Dropped uint64 // begins of regions for which there was no room: 131072 goroutines, 1024 on each
}

// Losses returns the losses so far.
func (s *Sink) Losses() Losses {
	return Losses{Unended: s.unended.Load(), Unbegun: s.unbegun.Load(), Dropped: s.dropped.Load()}
}

// Pending returns the names that no marker has so far.
func (s *Sink) Pending() []string { return s.c.Pending() }

// Close ends the writing. After it returns, no probe of the Sink runs; open regions and tasks stay
// open in the trace. [sink.Connection.Close] documents the wait and the error.
func (s *Sink) Close() error { return s.c.Close() }
