package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
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
			sel, err := parseSelection(cmd, o.pids, args)
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
	flags.Var(&o.engine, "engine", "agent: what the `agent` of a Go program tells, tracepoints and keys too; kernel: what files say")
	flags.StringVarP(&o.out, "output", "o", "", "write the list to `FILE`")
	completeMarkers(cmd, &o.pids)
	return cmd
}

func runList(ctx context.Context, env *term.Env, o *listOptions, sel *selection) error {
	if o.simple && sel.target.Path == "" && len(sel.target.PIDs) == 0 {
		return term.Usage("such as waymark list --simple ./server", "--simple needs a FILE or -p PID")
	}
	groups, simple, err := findGroups(ctx, env, o, sel)
	if err != nil {
		return err
	}
	return env.WithOutput(o.out, func(out *term.Output) error { return printList(env, out, o, sel, groups, simple) })
}

func printList(env *term.Env, out *term.Output, o *listOptions, sel *selection, groups []view.Group, simple []*tracer.Marker) (err error) {
	out.Begin()
	if o.json {
		err = view.ListJSON(out, groups, sel.onlyPID())
	} else {
		err = (&view.ListTable{Out: out, Verbose: o.verbose, Width: out.Width(), Pid: sel.onlyPID()}).Print(groups)
		for _, g := range groups {
			if err == nil && (len(groups) == 1 || o.verbose) {
				view.WarnProblems(env, g.Markers, o.verbose)
			}
		}
	}
	if err == nil && len(simple) > 0 {
		if len(groups) > 0 && !o.json {
			fmt.Fprintln(out)
		}
		err = view.ListSimple(out, simple, o.json, o.verbose)
		if len(groups) == 0 {
			view.WarnProblems(env, simple, o.verbose)
		}
	}
	return err
}
