package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
)

const listLong = `List markers: of a file, of a process and the libraries it maps, or of
everything that runs.

Each line has a marker, its fields with their types, the number of its sites,
and whether it has a reference counter, which makes it cost nothing until it is
traced. With -p PID the value of the counter follows: 0 while no tracer is
attached. -v shows formats, addresses, operands and unreadable notes.

Simple markers come in a table of their own: the module and the function that
contain them, and their description, with $variable for each value.

With --engine agent the list comes from the agent of a Go program: markers, also
of programs that were not linked, tracepoints and keys, and how often each is
armed and was hit while armed. Without --engine, the agent is asked if the
process has no other markers.

Patterns are globs over provider:name, such as 'http:*'. One without a colon
matches the name in any provider. An argument with a / or without any of : * ? [
is a FILE.`

const listExample = `  waymark list ./server              the markers of a file
  waymark list ./server 'http:*'     some of them
  waymark list -p 1234               those of a process and its libraries
  waymark list                       every marker in every running process
  waymark list 'http:*'              processes that have these
  waymark list --engine agent -p 1234
                                     with tracepoints and keys, from the agent
  waymark list --simple ./scsi_mod   simple markers only`

type listOptions struct {
	pids    []int
	verbose bool
	json    bool
	simple  bool
	engine  session.Engine
	out     string
}

func newListCommand(env *term.Env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list [FILE | -p PID] [PATTERN...]",
		Short:   "List the markers of a file, a process or everything that runs",
		Long:    listLong,
		Example: listExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return term.Usage("to see a command's markers, list its file", "list runs no command")
			}
			sel, err := session.Parse(cmd, o.pids, args)
			if err != nil {
				return err
			}
			if listsAgents(&o, sel) {
				return listAgents(env, &o, sel)
			}
			return runList(cmd.Context(), env, &o, sel)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVarP(&o.pids, "pid", "p", nil, "the process `PID`, or several: 12,34")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show formats, sites, operands and all problems")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	flags.BoolVar(&o.simple, "simple", false, "show simple markers only: docs/simple.md")
	flags.Var(&o.engine, "engine", "`NAME`: agent (with tracepoints and keys), kernel (files), or auto")
	flags.StringVarP(&o.out, "output", "o", "", "write the list to `FILE`")
	completeMarkers(cmd, &o.pids)
	return cmd
}

func runList(ctx context.Context, env *term.Env, o *listOptions, sel *session.Selection) error {
	if o.simple && sel.Subject.Path == "" && len(sel.Subject.PIDs) == 0 {
		return term.Usage("such as waymark list --simple ./server", "--simple needs a FILE or -p PID")
	}
	groups, simple, err := findGroups(ctx, env, o, sel)
	if err != nil {
		return err
	}
	return env.WithOutput(o.out, func(out *term.Output) error { return printList(env, out, o, sel, groups, simple) })
}

func printList(env *term.Env, out *term.Output, o *listOptions, sel *session.Selection, groups []view.Group, simple []*tracer.Marker) (err error) {
	out.Begin()
	if o.json {
		err = view.ListJSON(out, groups, sel.OnlyPID())
	} else {
		err = (&view.ListTable{Out: out, Verbose: o.verbose, Width: out.Width(), PID: sel.OnlyPID()}).Print(groups)
		for _, g := range groups {
			if err == nil && (len(groups) == 1 || o.verbose) {
				view.WarnProblems(env, g.Markers, o.verbose)
			}
		}
	}
	if err == nil && len(simple) > 0 {
		if len(groups) > 0 && !o.json {
			term.Linef(out, "")
		}
		err = view.ListSimple(out, simple, o.json, o.verbose)
		if len(groups) == 0 {
			view.WarnProblems(env, simple, o.verbose)
		}
	}
	return err
}

// splitSimple returns the simple ones among markers that the patterns select, and the others.
func splitSimple(all []*tracer.Marker, sel *session.Selection) (others, simple []*tracer.Marker) {
	for _, m := range all {
		switch {
		case m.Simple == nil:
			others = append(others, m)
		case sel.MatchSimple(m.Simple.Name):
			simple = append(simple, m)
		}
	}
	return others, simple
}

var errNoSimple = errors.New("no simple markers")

// findGroups returns the markers that the command line selects; of a file or of processes the simple
// ones by themselves.
func findGroups(ctx context.Context, env *term.Env, o *listOptions, sel *session.Selection) (groups []view.Group, simple []*tracer.Marker, err error) {
	if len(sel.Subject.PIDs) == 0 && sel.Subject.Path == "" {
		groups, err = findRunning(ctx, env, o, sel)
		return groups, nil, err
	}
	done := env.Progress("reading the markers of %s", sel.Named())
	find := tracer.Find
	if !o.verbose && !o.json {
		find = tracer.FindNames
	}
	all, err := find(ctx, sel.Subject.Target())
	done()
	if err != nil {
		return nil, nil, explain.File(sel.Subject.Path, err)
	}
	others, simple := splitSimple(all, sel)
	if o.simple {
		if len(simple) == 0 {
			err = term.WithHint(fmt.Errorf("%s has %w", sel.Named(), errNoSimple), "docs/simple.md says how to mark in Go, C and C++")
		}
		return nil, simple, err
	}
	markers, err := sel.SelectMarkers(others)
	switch {
	case err == nil:
		groups = []view.Group{{Markers: markers}}
	case len(simple) > 0:
		err = nil
	}
	return groups, simple, err
}

func findRunning(ctx context.Context, env *term.Env, o *listOptions, sel *session.Selection) ([]view.Group, error) {
	done := env.Progress("looking at every running process")
	processes, err := tracer.FindAll(ctx)
	done()
	if err != nil {
		return nil, err
	}
	if err := selectRunning(processes, sel.Patterns); err != nil {
		return nil, err
	}
	groups := groupProcesses(processes, o.json)
	if !o.json {
		warnUnseen(env, processes, o.verbose)
	}
	if len(groups) == 0 { // which is no error: it is what there is to list
		env.Message("no running process has markers")
		env.Hint("a Go program that uses package marker needs waymark link, and to be started again")
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
		key := ""
		for _, f := range view.Files(p.Markers) {
			key += fmt.Sprintf("%p ", f)
		}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
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

// listAgents lists what the agents of processes tell of: markers, tracepoints and keys.
func listAgents(env *term.Env, o *listOptions, sel *session.Selection) error {
	if len(sel.Subject.PIDs) == 0 {
		return term.Usage("such as waymark list --engine agent -p 1234", "an agent is that of a process, by -p PID")
	}
	return env.WithOutput(o.out, func(out *term.Output) error {
		for i, pid := range sel.Subject.PIDs {
			points, err := agentPoints(pid, sel.Patterns)
			if err == nil && o.json {
				err = view.WritePoints(out, pid, points)
			} else if err == nil {
				if i > 0 {
					term.Linef(out, "")
				}
				if len(sel.Subject.PIDs) > 1 {
					term.Linef(out, "%s", out.Style.Bold(fmt.Sprintf("process %d", pid)))
				}
				err = view.PrintPoints(out, points)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// agentPoints returns the points of a process that patterns select, of all kinds.
func agentPoints(pid int, patterns []string) (some []client.Point, err error) {
	err = withAgent(pid, func(a *client.Agent) error {
		all, err := a.Points()
		if err == nil {
			some, err = choosePoints(all, patterns)
		}
		return err
	})
	return some, err
}

// listsAgents reports whether agents are to be asked: because that is wanted, or nothing else says anything.
func listsAgents(o *listOptions, sel *session.Selection) bool {
	if o.engine != "" && o.engine != session.EngineAuto || o.simple || o.verbose || len(sel.Subject.PIDs) == 0 {
		return o.engine == session.EngineAgent
	}
	markers, err := sel.Subject.Find(context.Background())
	if err != nil || len(markers) > 0 {
		return false
	}
	for _, pid := range sel.Subject.PIDs {
		if withAgent(pid, func(*client.Agent) error { return nil }) != nil {
			return false
		}
	}
	return true
}
