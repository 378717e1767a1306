package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
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
		e, err := tracer.ChooseEngine(tracer.Target{PID: pid})
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
		s.target = tracer.Target{PIDs: kernel, Engine: tracer.EngineKernel}
		s.agents = tracer.Target{PIDs: agents, Engine: tracer.EngineAgent}
	}
	return nil
}

// find returns the markers of all processes.
func (s *session) find(ctx context.Context) ([]*tracer.Marker, error) {
	all, err := tracer.Find(ctx, s.target)
	if err != nil || len(s.agents.PIDs) == 0 {
		return all, explain.File(s.target.Path, err)
	}
	of, err := tracer.Find(ctx, s.agents)
	s.byAgents = of
	return append(all, of...), err
}

// part takes from the markers that were chosen those that are looked at through agents.
func (s *session) part() {
	s.byAgents = slices.DeleteFunc(s.byAgents, func(m *tracer.Marker) bool { return !slices.Contains(s.markers, m) })
	s.markers = slices.DeleteFunc(s.markers, func(m *tracer.Marker) bool { return slices.Contains(s.byAgents, m) })
	if len(s.markers) == 0 && len(s.byAgents) > 0 { // the kernel has none of them
		s.target, s.markers, s.agents, s.byAgents = s.agents, s.byAgents, tracer.Target{}, nil
		s.later = nil
	}
}

// sources attaches to the chosen markers by the engines that suit their processes, and to tracepoints of the kernel.
func (s *session) sources(how *tracer.Options, tracepoints []string) (all []*tracer.Tracer, err error) {
	defer func() {
		if err != nil {
			for _, source := range all {
				err = errors.Join(err, source.Close())
			}
			all = nil
		}
	}()
	add := func(t tracer.Target, markers []*tracer.Marker, later *tracer.Later) error {
		options := *how
		options.Later = later
		events, err := tracer.Trace(t, markers, &options)
		if err != nil {
			return err
		}
		if t.Engine == tracer.EngineAgent {
			s.noteBuffer(events, how.BufferSize)
		}
		all = append(all, events)
		return nil
	}
	if err := add(s.target, s.markers, s.later); err != nil {
		return all, err
	}
	if len(s.byAgents) > 0 {
		if err := add(s.agents, s.byAgents, nil); err != nil {
			return all, err
		}
		s.beside = append(s.beside, fmt.Sprintf("%s in %s, through its agent", view.PointsText(s.byAgents), pidsText(s.agents.PIDs)))
	}
	if len(tracepoints) > 0 {
		kernel, err := tracer.TraceKernel(tracepoints, &tracer.Options{BufferSize: how.BufferSize})
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
func (s *session) noteBuffer(events *tracer.Tracer, asked int) {
	if n := events.Buffer(); asked == 0 && n > 0 && n < usualBuffer {
		s.env.Message("little memory is left where the program runs: its rings have %s, not %s; --buffer asks for a size", view.BytesText(uint64(n)), view.BytesText(usualBuffer))
	}
}
