package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer/kernelevent"
)

const probeLong = `Define markers as events of the kernel, for perf and ftrace.

An event is named sdt_PROVIDER:NAME, as by perf probe, belongs to no process,
and stays until it is deleted or the machine restarts. It costs nothing until it
is enabled; then the kernel also raises the marker's reference counter. Unlike
perf probe this needs no build id and no cache, and defines every argument that
the kernel can express, and markers whose sites differ.`

const probeExample = `  waymark probe add ./server 'http:*'              define them
  perf record -e 'sdt_http:*' -a sleep 10          and use them
  waymark probe list                               all events with their hits
  waymark probe del 'sdt_http:*'                   delete them`

func newProbeCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "probe {add | list | del}",
		Short:   "Define markers as events for perf and ftrace",
		Long:    probeLong,
		Example: probeExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return term.Usage("waymark probe --help shows them", "probe has no command %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProbeAddCommand(env), newProbeListCommand(env), newProbeDeleteCommand(env))
	return cmd
}

const probeAddLong = `Define the markers of a file, or of a process and its libraries, as events of
the kernel.

Patterns are those of waymark list; without one every marker is defined. Each
line has an event and its arguments: those of Go programs under their names,
others as arg1 and so on. Arguments that the kernel cannot express are left out
and listed with the reason: it has no floating-point numbers (they appear as
their bits), cannot add two registers, and reads text only up to a zero byte (a
Go string is its address and its length).

An event is of one file, for every process that runs it. An existing event is
not defined again. If one event cannot be defined, none is. It needs root.`

const probeAddExample = `  waymark probe add ./server                    every marker of a file
  waymark probe add ./server 'http:*'           some of them
  waymark probe add -p 1234 libc:setjmp         of what a process runs
  waymark probe add -n ./server                 only print the definitions`

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
			sel, err := session.Parse(cmd, o.pids, args)
			if err != nil {
				return err
			}
			if len(sel.Subject.Command) > 0 {
				return term.Usage("events are of files: give the command's file", "probe add runs no command")
			}
			if len(sel.Subject.PIDs) == 0 && sel.Subject.Path == "" {
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

func runProbeAdd(ctx context.Context, env *term.Env, o *probeAddOptions, sel *session.Selection) error {
	done := env.Progress("reading the markers of %s", sel.Named())
	all, err := sel.Subject.Find(ctx)
	done()
	if err != nil {
		return explain.File(sel.Subject.Path, err)
	}
	markers, err := sel.SelectMarkers(all)
	if err != nil {
		return err
	}
	view.WarnProblems(env, markers, false)
	do := kernelevent.Define
	if o.dryRun {
		do = kernelevent.Plan
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
func perfLine(events []kernelevent.Event) string {
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

const probeListLong = `List the user-space events of the kernel: those of waymark probe add, and all
others.

HITS counts hits since the event was defined, while it was enabled. ON is true
if ftrace has it enabled; the kernel does not show which events perf has open.
MARKER is the note of the file at that address. Patterns are globs over events,
such as 'sdt_http:*'. It needs root.`

const probeListExample = `  waymark probe list
  waymark probe list 'sdt_http:*'
  waymark probe list --json`

func newProbeListCommand(env *term.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [PATTERN...]",
		Short:   "List the events, with their hits",
		Long:    probeListLong,
		Example: probeListExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			events, err := kernelevent.List()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if events, err = selectEvents(events, args, false); err != nil {
					return err
				}
			}
			print := view.PrintEvents
			if asJSON {
				print = view.EventsJSON
			}
			err = env.WithOutput("", func(out *term.Output) error { return print(out, events) })
			if len(events) == 0 && !asJSON {
				env.Message("there are no events; waymark probe add FILE defines some")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line: docs/json.md")
	return cmd
}

const probeDeleteLong = `Delete events of the kernel.

Patterns are globs over events, such as 'sdt_http:*'. One without a colon
matches the name in any group that begins with sdt_. Events of other groups
belong to other tools, and are deleted only if the pattern spells the group out.
An event in use is kept, with an error; the others are deleted all the same. It
needs root.`

const probeDeleteExample = `  waymark probe del sdt_http:request_start
  waymark probe del 'sdt_http:*'
  waymark probe del '*'                   all events of markers`

func newProbeDeleteCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "del PATTERN...",
		Aliases: []string{"delete", "rm"},
		Short:   "Delete events",
		Long:    probeDeleteLong,
		Example: probeDeleteExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.Usage("waymark probe list shows the events; '*' is all of markers", "probe del needs a pattern")
			}
			events, err := kernelevent.List()
			if err != nil {
				return err
			}
			if events, err = selectEvents(events, args, true); err != nil {
				return err
			}
			var failed []error
			for i := range events {
				e := &events[i]
				if err := kernelevent.Delete(e.Group, e.Name); err != nil {
					failed = append(failed, err)
					continue
				}
				if err := term.Linef(env.Stdout, "deleted %s", view.EventText(e.FullName(), len(e.Places))); err != nil {
					return err
				}
			}
			return errors.Join(failed...)
		},
	}
}

// selectEvents returns the events that any of the patterns matches. careful leaves out other
// people's groups unless a pattern spells them out.
func selectEvents(events []kernelevent.Event, patterns []string, careful bool) ([]kernelevent.Event, error) {
	chosen := make([]bool, len(events))
	for _, pattern := range patterns {
		group, name, ok := strings.Cut(pattern, ":")
		if !ok {
			group, name = "*", pattern
		}
		found := false
		for i := range events {
			e := &events[i]
			inGroup, err := path.Match(group, e.Group)
			named, err2 := path.Match(name, e.Name)
			if err := errors.Join(err, err2); err != nil {
				return nil, term.Usage("such as 'sdt_http:*'", "pattern %q: %v", pattern, err)
			}
			if careful && e.Group != group && !strings.HasPrefix(e.Group, "sdt_") {
				continue
			}
			if inGroup && named {
				chosen[i], found = true, true
			}
		}
		if !found {
			hint := "waymark probe list shows the events"
			if slices.ContainsFunc(events, func(e kernelevent.Event) bool { return e.Group == "sdt_"+group }) {
				hint = "did you mean 'sdt_" + pattern + "'"
			}
			return nil, term.WithHint(fmt.Errorf("no event matches %q", pattern), "%s", hint)
		}
	}
	var out []kernelevent.Event
	for i, e := range events {
		if chosen[i] {
			out = append(out, e)
		}
	}
	return out, nil
}
