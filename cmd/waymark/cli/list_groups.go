package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer"
)

// group is one or several processes with the very same markers, or a file.
type group struct {
	processes []tracer.Process
	markers   []*tracer.Marker
}

// findGroups returns the markers that the command line selects; of a file or of processes the simple
// ones by themselves.
func findGroups(ctx context.Context, env *Env, o *listOptions, sel *selection) (groups []group, simple []*tracer.Marker, err error) {
	if len(sel.target.PIDs) == 0 && sel.target.Path == "" {
		groups, err = findRunning(ctx, env, o, sel)
		return groups, nil, err
	}
	done := env.progress("reading the markers of %s", sel.named())
	find := tracer.Find
	if !o.verbose && !o.json {
		find = tracer.FindNames
	}
	all, err := find(ctx, sel.target.target())
	done()
	if err != nil {
		return nil, nil, explainFile(sel.target.Path, err)
	}
	others, simple := splitSimple(all, sel)
	if o.simple {
		if len(simple) == 0 {
			err = withHint(fmt.Errorf("%s has %w", sel.named(), errNoSimple), "docs/simple.md says how to mark in Go, C and C++")
		}
		return nil, simple, err
	}
	markers, err := sel.choose(others)
	switch {
	case err == nil:
		groups = []group{{markers: markers}}
	case len(simple) > 0:
		err = nil
	}
	return groups, simple, err
}

func findRunning(ctx context.Context, env *Env, o *listOptions, sel *selection) ([]group, error) {
	done := env.progress("looking at every running process")
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
		env.warnUnseen(processes, o.verbose)
	}
	if len(groups) == 0 {
		return nil, withHint(errors.New("no running process has markers"),
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
func groupProcesses(processes []tracer.Process, each bool) []group {
	var groups []group
	index := map[string]int{}
	for _, p := range processes {
		if each {
			groups = append(groups, group{[]tracer.Process{p}, p.Markers})
			continue
		}
		if len(p.Markers) == 0 {
			continue
		}
		var key strings.Builder
		for _, f := range files(p.Markers) {
			fmt.Fprintf(&key, "%p ", f)
		}
		i, ok := index[key.String()]
		if !ok {
			i = len(groups)
			index[key.String()] = i
			groups = append(groups, group{markers: p.Markers})
		}
		groups[i].processes = append(groups[i].processes, p)
	}
	return groups
}

// warnUnseen says which processes could not be looked at.
func (e *Env) warnUnseen(processes []tracer.Process, all bool) {
	refused, other, hint := 0, 0, ""
	for _, p := range processes {
		var permission *tracer.PermissionError
		switch {
		case p.Err == nil:
		case all:
			e.warning("process %d (%s): %v", p.PID, label(p.Comm), p.Err)
		case errors.As(p.Err, &permission):
			refused++
			hint = permissionHint(permission)
		default:
			other++
		}
	}
	if refused > 0 {
		e.warning("not permitted to look at %s", processesText(refused))
		e.hint("%s; -v says which they are", hint)
	}
	if other > 0 {
		e.warning("something is wrong with %s; -v says what", processesText(other))
	}
}

func processesText(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
