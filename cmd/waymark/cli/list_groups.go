package cli

import (
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
)

// splitSimple returns the simple ones among markers that the patterns select, and the others.
func splitSimple(all []*tracer.Marker, sel *selection) (others, simple []*tracer.Marker) {
	for _, m := range all {
		switch {
		case m.Simple == nil:
			others = append(others, m)
		case sel.matchSimple(m.Simple.Name):
			simple = append(simple, m)
		}
	}
	return others, simple
}

// matchSimple reports whether the patterns select a name: one without a colon matches the
// last component, as it matches the name of other markers.
func (s *selection) matchSimple(name string) bool {
	for _, pattern := range s.patterns {
		whole := name
		if !strings.Contains(pattern, ":") {
			whole = name[strings.LastIndexByte(name, ':')+1:]
		}
		if ok, _ := path.Match(pattern, whole); ok {
			return true
		}
	}
	return len(s.patterns) == 0
}

var errNoSimple = errors.New("no simple markers")

// findGroups returns the markers that the command line selects; of a file or of processes the simple
// ones by themselves.
func findGroups(ctx context.Context, env *term.Env, o *listOptions, sel *selection) (groups []view.Group, simple []*tracer.Marker, err error) {
	if len(sel.target.PIDs) == 0 && sel.target.Path == "" {
		groups, err = findRunning(ctx, env, o, sel)
		return groups, nil, err
	}
	done := env.Progress("reading the markers of %s", sel.named())
	target := sel.target
	target.Outline = !o.verbose && !o.json
	all, err := tracer.Find(ctx, target)
	done()
	if err != nil {
		return nil, nil, explain.File(target.Path, err)
	}
	others, simple := splitSimple(all, sel)
	if o.simple {
		if len(simple) == 0 {
			err = term.WithHint(fmt.Errorf("%s has %w", sel.named(), errNoSimple), "docs/simple.md says how to mark in Go, C and C++")
		}
		return nil, simple, err
	}
	markers, err := sel.choose(others)
	switch {
	case err == nil:
		groups = []view.Group{{Markers: markers}}
	case len(simple) > 0:
		err = nil
	}
	return groups, simple, err
}

func findRunning(ctx context.Context, env *term.Env, o *listOptions, sel *selection) ([]view.Group, error) {
	done := env.Progress("looking at every running process")
	processes, err := tracer.FindAll(ctx)
	done()
	if err != nil {
		return nil, err
	}
	if err := selectRunning(processes, sel.patterns); err != nil {
		return nil, err
	}
	groups := groupProcesses(processes, o.json)
	if !o.json {
		warnUnseen(env, processes, o.verbose)
	}
	if len(groups) == 0 {
		return nil, term.WithHint(errors.New("no running process has markers"),
			"a Go program that uses package marker needs waymark link, and to be started again")
	}
	return groups, nil
}

// selectRunning keeps the markers that the patterns select, in every process.
func selectRunning(processes []tracer.Process, patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	var all []*tracer.Marker
	seen := map[*tracer.Marker]bool{}
	for _, p := range processes {
		for _, m := range p.Markers {
			if !seen[m] {
				seen[m] = true
				all = append(all, m)
			}
		}
	}
	chosen, err := tracer.Select(all, patterns)
	if err != nil {
		return err
	}
	keep := map[*tracer.Marker]bool{}
	for _, m := range chosen {
		keep[m] = true
	}
	for i, p := range processes {
		processes[i].Markers = slices.DeleteFunc(slices.Clone(p.Markers), func(m *tracer.Marker) bool { return !keep[m] })
	}
	return nil
}

// groupProcesses puts processes together that have the same markers, unless every process
// is wanted by itself, with those that could not be looked at.
func groupProcesses(processes []tracer.Process, each bool) []view.Group {
	var groups []view.Group
	index := map[string]int{}
	for _, p := range processes {
		if each {
			groups = append(groups, view.Group{Processes: []tracer.Process{p}, Markers: p.Markers})
			continue
		}
		if len(p.Markers) == 0 {
			continue
		}
		var key strings.Builder
		for _, f := range view.Files(p.Markers) {
			fmt.Fprintf(&key, "%p ", f)
		}
		i, ok := index[key.String()]
		if !ok {
			i = len(groups)
			index[key.String()] = i
			groups = append(groups, view.Group{Markers: p.Markers})
		}
		groups[i].Processes = append(groups[i].Processes, p)
	}
	return groups
}

// warnUnseen says which processes could not be looked at.
func warnUnseen(e *term.Env, processes []tracer.Process, all bool) {
	refused, other, hint := 0, 0, ""
	for _, p := range processes {
		var permission *tracer.PermissionError
		switch {
		case p.Err == nil:
		case all:
			e.Warning("process %d (%s): %v", p.PID, term.Label(p.Comm), p.Err)
		case errors.As(p.Err, &permission):
			refused++
			hint = explain.PermissionHint(permission)
		default:
			other++
		}
	}
	if refused > 0 {
		e.Warning("not permitted to look at %s", processesText(refused))
		e.Hint("%s; -v says which they are", hint)
	}
	if other > 0 {
		e.Warning("something is wrong with %s; -v says what", processesText(other))
	}
}

func processesText(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
