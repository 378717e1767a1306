package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/kernelevent"
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

func newProbeAddCommand(env *Env) *cobra.Command {
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
				return usage("events are of files: give the command's file", "probe add runs no command")
			}
			if len(sel.target.PIDs) == 0 && sel.target.Path == "" {
				return usage("give -p PID or FILE; waymark list shows what is running", "nothing says whose markers to define")
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

func runProbeAdd(ctx context.Context, env *Env, o *probeAddOptions, sel *selection) error {
	done := env.progress("reading the markers of %s", sel.named())
	all, err := sel.target.find(ctx)
	done()
	if err != nil {
		return explainFile(sel.target.Path, err)
	}
	markers, err := sel.choose(all)
	if err != nil {
		return err
	}
	env.warnProblems(markers, false)
	do := kernelevent.Define
	if o.dryRun {
		do = kernelevent.Plan
	}
	events, err := do(markers)
	if err != nil {
		return err
	}
	out, err := env.openOutput("", false)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		err = eventsJSON(out, events)
	case o.dryRun:
		err = printDefinitions(out, events)
	default:
		err = printDefined(out, events)
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil && !o.json && !o.dryRun {
		env.message("%s", perfLine(events))
	}
	return err
}

// perfLine says how to use events.
func perfLine(events []kernelevent.Event) string {
	names := []string{label(events[0].FullName())}
	if len(events) > 1 {
		names = nil
		for i := range events {
			if name := "'" + label(events[i].Group) + ":*'"; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return fmt.Sprintf("use with: perf record -e %s -a; delete with: waymark probe del %s", strings.Join(names, " -e "), strings.Join(names, " "))
}

func printDefined(out *output, events []kernelevent.Event) error {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		b.WriteString(eventText(e.FullName(), len(e.Places)))
		if args := argNames(e); args != "" {
			b.WriteString("  " + args)
		}
		if e.Existed {
			b.WriteString("  (there already)")
		}
		b.WriteByte('\n')
		for _, r := range e.Remarks {
			what := ""
			if r.Left {
				what = " is left out"
			}
			fmt.Fprintf(&b, "  %s%s: %s\n", label(r.Arg), what, printable(r.Because.Error()))
		}
	}
	_, err := out.Write([]byte(b.String()))
	return err
}

// argNames returns the names and types of an event's arguments: "arg1 s32, arg2 u8".
func argNames(e *kernelevent.Event) string {
	var words []string
	for _, arg := range e.Places[0].Args {
		name, fetch, _ := strings.Cut(arg, "=")
		words = append(words, name+" "+fetch[strings.LastIndexByte(fetch, ':')+1:])
	}
	return label(strings.Join(words, ", "))
}

// printDefinitions prints lines for uprobe_events.
func printDefinitions(out *output, events []kernelevent.Event) error {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		for _, p := range e.Places {
			fmt.Fprintf(&b, "p:%s/%s %s:%#x", e.Group, e.Name, printable(p.Path), p.Offset)
			if p.Counter != 0 {
				fmt.Fprintf(&b, "(%#x)", p.Counter)
			}
			for _, arg := range p.Args {
				b.WriteString(" " + arg)
			}
			b.WriteByte('\n')
		}
	}
	_, err := out.Write([]byte(b.String()))
	return err
}
