package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
)

const listLong = `List markers: of a file, of a process and the libraries it maps, or of everything that runs.

Each line has a marker, its fields with their types, at how many sites it is, and whether a
reference counter guards it (then it costs nothing until somebody attaches), and with -p PID
the counter's value: 0 when nobody traces it. -v shows formats, addresses, operands and what
could not be read.

The simple markers of a file or process come in a table of their own: the module and the
function they are in, and their description, with $variable for each value it tells of.

With --engine agent it is what the agent in a Go program tells: markers, also of programs that were
not linked, tracepoints and keys, with how often each is armed and was passed meanwhile. Without it,
that is done for a process that has no markers otherwise.

Patterns are globs over provider:name, such as 'http:*'; one without a colon matches the
name in any provider. FILE is what has a / or none of : * ? [ in it.`

const listExample = `  waymark list ./server              the markers of a file
  waymark list ./server 'http:*'     some of them
  waymark list -p 1234               those of a process and its libraries
  waymark list                       every marker in every running process
  waymark list 'http:*'              who has these?
  waymark list --engine agent -p 1234
                                     with tracepoints and keys, as the program's agent tells
  waymark list --simple ./scsi_mod   simple markers alone: places without an instruction`

type listOptions struct {
	pids    []int
	verbose bool
	json    bool
	simple  bool
	engine  engineFlag
	out     string
}

func newListCommand(env *Env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list [FILE | -p PID] [PATTERN...]",
		Short:   "List the markers of a file, a process or everything that runs",
		Long:    listLong,
		Example: listExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return usage("to see a command's markers, list its file", "list runs no command")
			}
			sel, err := parseSelection(cmd, o.pids, args)
			if err != nil {
				return err
			}
			if listsAgents(&o, sel) {
				return listAgents(cmd.Context(), env, &o, sel)
			}
			return runList(cmd.Context(), env, &o, sel)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVarP(&o.pids, "pid", "p", nil, "the process `PID`, or several: 12,34")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show formats, sites, operands and all problems")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	flags.BoolVar(&o.simple, "simple", false, "show simple markers only: docs/simple.md")
	flags.Var(&o.engine, "engine", "agent: what the `agent` of a Go program tells, tracepoints and keys too; kernel: what files say")
	flags.StringVarP(&o.out, "output", "o", "", "write the list to `FILE`")
	return cmd
}

func runList(ctx context.Context, env *Env, o *listOptions, sel *selection) error {
	if o.simple && sel.target.Path == "" && len(sel.target.PIDs) == 0 {
		return usage("such as waymark list --simple ./server", "--simple needs a FILE or -p PID")
	}
	groups, simple, err := findGroups(ctx, env, o, sel)
	if err != nil {
		return err
	}
	out, err := env.openOutput(o.out, false)
	if err != nil {
		return err
	}
	if o.json {
		err = listJSON(out, groups, sel.onlyPID())
	} else {
		width, _, _ := screenSize(out.to)
		err = (&listTable{out: out, style: styleFor(out.to), verbose: o.verbose, width: width, pid: sel.onlyPID()}).print(groups)
		for _, g := range groups {
			if err == nil && (len(groups) == 1 || o.verbose) {
				env.warnProblems(g.markers, o.verbose)
			}
		}
	}
	if err == nil && len(simple) > 0 {
		if len(groups) > 0 && !o.json {
			fmt.Fprintln(out)
		}
		err = listSimple(out, simple, o.json, o.verbose)
		if len(groups) == 0 {
			env.warnProblems(simple, o.verbose)
		}
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

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
	all, err := tracer.Find(ctx, sel.target)
	done()
	if err != nil {
		return nil, nil, err
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
