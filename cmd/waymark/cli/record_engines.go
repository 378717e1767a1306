package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/tracer"
)

// divide has each process of a recording looked at by the engine that suits it, where nobody says which: those in s.target by
// the kernel's, those in s.agents through their agents.
func (s *session) divide(sel *selection) error {
	if sel.engine != "" && sel.engine != engineAuto || sel.target.Follow || len(sel.target.PIDs) < 2 || sel.kernel == nil {
		return nil
	}
	var kernel, agents []int
	for _, pid := range sel.target.PIDs {
		e, err := tracer.PIDs(pid).Engine()
		switch {
		case err != nil:
			return err
		case e == tracer.EngineAgent:
			agents = append(agents, pid)
		default:
			kernel = append(kernel, pid)
		}
	}
	if len(kernel) > 0 && len(agents) > 0 {
		s.target = subject{PIDs: kernel, Engine: tracer.EngineKernel}
		s.agents = subject{PIDs: agents, Engine: tracer.EngineAgent}
	}
	return nil
}

// find returns the markers of all processes.
func (s *session) find(ctx context.Context) ([]*tracer.Marker, error) {
	all, err := s.target.find(ctx)
	if err != nil || len(s.agents.PIDs) == 0 {
		return all, explainFile(s.target.Path, err)
	}
	of, err := s.agents.find(ctx)
	s.byAgents = of
	return append(all, of...), err
}

// part takes from the markers that were chosen those that are looked at through agents.
func (s *session) part() {
	s.byAgents = slices.DeleteFunc(s.byAgents, func(m *tracer.Marker) bool { return !slices.Contains(s.markers, m) })
	s.markers = slices.DeleteFunc(s.markers, func(m *tracer.Marker) bool { return slices.Contains(s.byAgents, m) })
	if len(s.markers) == 0 && len(s.byAgents) > 0 { // the kernel has none of them
		s.target, s.markers, s.agents, s.byAgents = s.agents, s.byAgents, subject{}, nil
		s.later = nil
	}
}

// sources attaches the engines that the options ask for.
func (s *session) sources(o *recordOptions) (all []*tracer.Tracer, err error) {
	defer func() {
		if err != nil {
			for _, source := range all {
				err = errors.Join(err, source.Close())
			}
			all = nil
		}
	}()
	options := func() *tracer.TraceOptions {
		return &tracer.TraceOptions{Attach: tracer.Attach{Where: o.where, Strings: o.str, BufferSize: int(o.buffer)}, MaxString: o.max}
	}
	add := func(t subject, markers []*tracer.Marker, options *tracer.TraceOptions) error {
		events, err := tracer.Trace(t.target(), markers, options)
		if err != nil {
			return err
		}
		if t.Engine == tracer.EngineAgent {
			s.noteBuffer(events, o.buffer)
		}
		all = append(all, events)
		return nil
	}
	first := options()
	first.Later = s.later
	if err := add(s.target, s.markers, first); err != nil {
		return all, err
	}
	if len(s.byAgents) > 0 {
		if err := add(s.agents, s.byAgents, options()); err != nil {
			return all, err
		}
		s.beside = append(s.beside, fmt.Sprintf("%s in %s, through its agent", pointsText(s.byAgents), pidsText(s.agents.PIDs)))
	}
	if len(o.kernel) > 0 {
		kernel, err := tracer.TraceKernel(o.kernel, int(o.buffer))
		if err != nil {
			return all, err
		}
		all = append(all, kernel)
		s.beside = append(s.beside, tracepointsText(kernel.Points()))
	}
	return all, nil
}

// usualBuffer is where events are kept when nobody says how much of them.
const usualBuffer = 16 << 20

// noteBuffer says that an agent had room for less than usual.
func (s *session) noteBuffer(events *tracer.Tracer, asked byteSize) {
	if n := events.Buffer(); asked == 0 && n > 0 && n < usualBuffer {
		s.env.message("little memory is left where the program runs: its rings have %s, not %s; --buffer asks for a size", bytesText(uint64(n)), bytesText(usualBuffer))
	}
}
