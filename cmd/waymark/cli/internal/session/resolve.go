package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// findMarkers returns the markers of all processes, and decides by which engine each process is traced: the one of
// --engine, else the kernel's where that is permitted, else the processes' agents. A recording may take some of
// its processes by the one and some by the other: those in s.Subject and those in s.agents.
func (s *Session) findMarkers(ctx context.Context, sel *Selection) ([]*tracer.Marker, error) {
	switch {
	case sel.Engine.of() != tracer.EngineAuto:
		s.Subject.Engine = sel.Engine.of()
	case s.Command != nil || len(s.Subject.PIDs) == 0: // tracer.Start has chosen, or there are files only
	case sel.Kernel != nil && len(s.Subject.PIDs) > 1 && !s.Subject.Follow && s.divideProcesses(ctx):
	default:
		found, err := s.Subject.Target().By(tracer.EngineAuto).Find(ctx)
		if err != nil {
			return nil, explain.File(s.Subject.Path, err)
		}
		s.Subject.Engine = found.Target().Engine()
		return found.Markers, nil
	}
	all, err := s.Subject.Find(ctx)
	if err != nil || len(s.agents.PIDs) == 0 {
		return all, explain.File(s.Subject.Path, err)
	}
	of, err := s.agents.Find(ctx)
	s.byAgents = of
	return append(all, of...), err
}

// divideProcesses divides the processes of a recording by engine, if they need both.
func (s *Session) divideProcesses(ctx context.Context) bool {
	var kernel, agents []int
	for _, pid := range s.Subject.PIDs {
		if found, err := tracer.PIDs(pid).Find(ctx); err == nil && found.Target().Engine() == tracer.EngineAgent {
			agents = append(agents, pid)
		} else { // finding its markers reports the error
			kernel = append(kernel, pid)
		}
	}
	if len(kernel) == 0 || len(agents) == 0 {
		return false
	}
	s.Subject = Subject{PIDs: kernel, Engine: tracer.EngineKernel}
	s.agents = Subject{PIDs: agents, Engine: tracer.EngineAgent}
	return true
}

// resolve finds the markers of the target, and chooses those of the selection.
func (s *Session) resolve(ctx context.Context, sel *Selection) error {
	done := s.Env.Progress("reading the markers of %s", s.named)
	all, err := s.findMarkers(ctx, sel)
	done()
	if err == nil {
		all = s.orAgent(ctx, sel, all)
		err = sel.chooseKernel(all)
	}
	if err == nil {
		s.Markers, err = s.chooseMarkers(sel, all)
	}
	if err != nil {
		return err
	}
	view.WarnProblems(s.Env, s.Markers, false)
	view.WarnUnavailable(s.Env, s.Markers)
	view.WarnPlaces(s.Env, s.Markers)
	s.divideMarkers()
	return nil
}

// orAgent falls back to the agent engine when --engine is unset and some pattern matches only tracepoints, which the kernel
// engine cannot see. It returns the markers that are seen then; all are those that the kernel engine sees.
func (s *Session) orAgent(ctx context.Context, sel *Selection, all []*tracer.Marker) []*tracer.Marker {
	unseen := func(p string) bool { return len(Matching(all, []string{p})) == 0 }
	if cmp.Or(sel.Engine, EngineAuto) != EngineAuto || s.Subject.Engine != tracer.EngineKernel || s.Subject.Follow ||
		len(s.Subject.PIDs) == 0 || len(s.agents.PIDs) > 0 || !slices.ContainsFunc(sel.Patterns, unseen) {
		return all
	}
	target := s.Subject
	target.Engine = tracer.EngineAgent
	of, err := target.Find(ctx)
	if err != nil {
		return all // there is none, or it tells nothing
	}
	wanted := false
	for _, p := range sel.Patterns {
		chosen := Matching(of, []string{p})
		switch {
		case !unseen(p) && len(chosen) == 0:
			return all
		case unseen(p):
			wanted = wanted || slices.ContainsFunc(chosen, func(m *tracer.Marker) bool { return m.Tracepoint })
		}
	}
	if !wanted {
		return all
	}
	s.Subject, s.Later = target, nil
	return of
}

// divideMarkers takes from the markers that were chosen those that are looked at through agents.
func (s *Session) divideMarkers() {
	s.byAgents = slices.DeleteFunc(s.byAgents, func(m *tracer.Marker) bool { return !slices.Contains(s.Markers, m) })
	s.Markers = slices.DeleteFunc(s.Markers, func(m *tracer.Marker) bool { return slices.Contains(s.byAgents, m) })
	if len(s.Markers) == 0 && len(s.byAgents) > 0 { // the kernel has none of them
		s.Subject, s.Markers, s.agents, s.byAgents = s.agents, s.byAgents, Subject{}, nil
		s.Later = nil
	}
}

// chooseMarkers returns the markers that the selection names. That there is no such one is a warning
// where one may well appear: in a process that is followed, and in the libraries of a command that
// has none itself.
func (s *Session) chooseMarkers(sel *Selection, all []*tracer.Marker) ([]*tracer.Marker, error) {
	chosen, err := sel.SelectMarkers(all)
	if err == nil {
		return s.withFields(sel, chosen)
	}
	if err := s.awaits(sel, all, err); err != nil {
		return nil, err
	}
	return Matching(all, sel.Patterns), nil
}

// withFields returns the markers that have the fields of --where. One that a pattern names, without
// wildcards, must have them. Where none has, attaching says what is missing.
func (s *Session) withFields(sel *Selection, markers []*tracer.Marker) ([]*tracer.Marker, error) {
	var having, lacking []*tracer.Marker
	for _, m := range markers {
		switch {
		case len(missingFields(m, sel.Where)) == 0:
			having = append(having, m)
		case sel.names(m):
			lacking = append(lacking, m)
		}
	}
	if len(having) == 0 || len(having) == len(markers) {
		return markers, nil
	}
	if len(lacking) > 0 {
		return nil, lacksFields(sel, lacking)
	}
	s.Env.Message("--where chooses %d of %d markers, which have its fields", len(having), len(markers))
	return having, nil
}

// lacksFields says which of the markers that were named lack which fields of --where.
func lacksFields(sel *Selection, lacking []*tracer.Marker) error {
	var each []string
	for _, m := range lacking[:min(len(lacking), view.MaxProblems)] {
		each = append(each, term.Label(m.FullName())+" has no field "+term.List(term.Labels(missingFields(m, sel.Where))))
	}
	text := strings.Join(each, ", ")
	if more := len(lacking) - len(each); more > 0 {
		text += fmt.Sprintf(", and so have %d more", more)
	}
	return term.WithHint(fmt.Errorf("--where: %s", text),
		"name only markers that have it; patterns with * choose those by themselves, and waymark list shows the fields")
}

// missingFields returns the names in a condition that a marker has no field for.
func missingFields(m *tracer.Marker, where string) []string {
	missing, _ := tracer.CheckWhere(where, m) // flags have checked it
	return missing
}

// names reports whether a pattern without wildcards matches a marker.
func (s *Selection) names(m *tracer.Marker) bool {
	return slices.ContainsFunc(s.Patterns, func(p string) bool {
		return !strings.ContainsAny(p, "*?[\\") && Matches(m, []string{p})
	})
}

// Matches reports whether one of the patterns, which are well formed, matches a marker.
func Matches(m *tracer.Marker, patterns []string) bool {
	ok, err := tracer.Match(m, patterns)
	return ok && err == nil
}

// Matching returns the markers that one of the patterns matches.
func Matching(all []*tracer.Marker, patterns []string) (chosen []*tracer.Marker) {
	for _, m := range all {
		if Matches(m, patterns) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// awaits returns an error that there is no such marker, or warns of it where one may appear.
func (s *Session) awaits(sel *Selection, found []*tracer.Marker, err error) error {
	if errors.Is(err, path.ErrBadPattern) || s.Later == nil || s.Subject.Engine == tracer.EngineAgent {
		return err
	}
	if _, bad := tracer.Match(&tracer.Marker{}, sel.Patterns); bad != nil {
		return bad
	}
	text, hint := explain.Error(err)
	linked := s.Command != nil && linkedLater(s.Command.PID())
	switch {
	case len(found) == 0 && s.Command != nil && link.Unlinked(executable(s.Command.PID())):
		return term.WithHint(fmt.Errorf("%s has markers that no tracer sees: it is not linked", s.named), "waymark link %s", s.named)
	case sel.Subject.Follow, len(found) == 0 && linked:
	case errors.As(err, new(*tracer.NoMatchError)) && (linked || s.Command == nil):
		// Nearly always a slip; so it is not waited for without being asked.
		return term.WithHint(errors.New(text), "%s; --follow waits for those of libraries that are loaded later", hint)
	default:
		return err
	}
	s.Env.Warning("%s; those that appear later will be seen", text)
	if hint != "" {
		s.Env.Hint("%s", hint)
	}
	return nil
}
