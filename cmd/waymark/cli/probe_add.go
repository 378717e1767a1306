package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

const probeAddLong = `Define the markers of a file, or of a process and its libraries, as events of the kernel.

Patterns are those of waymark list; without one it is every marker. Each line has an event
and its arguments: those of Go programs under their names, others as arg1 and so on. What the
kernel cannot express is left out and listed with the reason: it has no floating-point numbers (they
are their bits), cannot add two registers, and reads text only up to a zero byte (a Go string
is its address and its length).

An event is of one file, whoever runs it. What is defined already is not defined again; when
one event cannot be defined, none is. It takes root.`

const probeAddExample = `  waymark probe add ./server                    every marker of a file
  waymark probe add ./server 'http:*'           some of them
  waymark probe add -p 1234 libc:setjmp         of what a process runs
  waymark probe add -n ./server                 only print what would be written to uprobe_events`

type probeAddOptions struct {
	pids   []int
	dryRun bool
	json   bool
}

func newProbeAddCommand(env *term.Env) *cobra.Command {
	var o probeAddOptions
	cmd := &cobra.Command{
		Use:     "add [FLAGS] {-p PID | FILE} [PATTERN...]",
		Short:   "Define markers as events",
		Long:    probeAddLong,
		Example: probeAddExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := parseSelection(cmd, o.pids, args)
			if err != nil {
				return err
			}
			if len(sel.target.Command) > 0 {
				return term.Usage("events are of files: give the command's file", "probe add runs no command")
			}
			if len(sel.target.PIDs) == 0 && sel.target.Path == "" {
				return term.Usage("give -p PID or FILE; waymark list shows what is running", "nothing says whose markers to define")
			}
			return runProbeAdd(cmd.Context(), env, &o, sel)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVarP(&o.pids, "pid", "p", nil, "the files of process `PID`, or of several: 12,34")
	flags.BoolVarP(&o.dryRun, "dry-run", "n", false, "define nothing, print the definitions")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	return cmd
}

func runProbeAdd(ctx context.Context, env *term.Env, o *probeAddOptions, sel *selection) error {
	done := env.Progress("reading the markers of %s", sel.named())
	all, err := tracer.Find(ctx, sel.target)
	done()
	if err != nil {
		return explain.File(sel.target.Path, err)
	}
	markers, err := sel.choose(all)
	if err != nil {
		return err
	}
	view.WarnProblems(env, markers, false)
	do := tracer.DefineKernelEvents
	if o.dryRun {
		do = tracer.PlanKernelEvents
	}
	events, err := do(markers)
	if err != nil {
		return err
	}
	print := view.PrintDefined
	switch {
	case o.json:
		print = view.EventsJSON
	case o.dryRun:
		print = view.PrintDefinitions
	}
	err = env.WithOutput("", func(out *term.Output) error { return print(out, events) })
	if err == nil && !o.json && !o.dryRun {
		env.Message("%s", perfLine(events))
	}
	return err
}

// perfLine says how to use events.
func perfLine(events []tracer.KernelEvent) string {
	names := []string{term.Label(events[0].FullName())}
	if len(events) > 1 {
		names = nil
		for i := range events {
			if name := "'" + term.Label(events[i].Group) + ":*'"; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return fmt.Sprintf("use with: perf record -e %s -a; delete with: waymark probe del %s", strings.Join(names, " -e "), strings.Join(names, " "))
}
