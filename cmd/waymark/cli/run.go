package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
	"github.com/waymark-trace/waymark/tracer/script"
)

const runLong = `Run a script on the events of a trace on disk.

A script is a program in a strict subset of bpftrace's language: it counts, sums
and prints the arguments of markers, with maps, histograms and intervals of
time. docs/script.md is its tutorial and reference, and docs/from-bpftrace.md
lists the differences. Anything else is an error with its line.

TRACE is a directory that waymark record wrote, or another trace in the Common
Trace Format. Times are those of the events: interval probes fire when they
would have fired, and nsecs and strftime show the past.

ARGs are the parameters of the script: $1, $2 and so on; --name=value for getopt
stands after "--". A file that begins with "#!/usr/bin/env -S waymark run" can
be executed.

The exit status is that of exit(STATUS) in the script; 1 for a script with a
mistake or a damaged trace.`

const runExample = `  waymark run --trace trace -e 'marker:* { @[probe] = count(); }'
  waymark run --trace trace -e 'marker:http:end { @ = hist(args.took / 1us); }'
  waymark run slow.bt --trace trace 20 -- --by=path
  waymark run --check slow.bt                   only check it
  waymark run --explain slow.bt --trace trace   its probes, fields and maps
  waymark run --trace ~/lttng-traces/auto-20261121-100000 --json slow.bt`

type runOptions struct {
	program, trace, out          string
	json, check, explain, unsafe bool
	duration                     time.Duration
	events                       uint64
	pids, command, file, engine  string
	follow                       bool
}

func newRunCommand(env *term.Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:     "run [FLAGS] {SCRIPT | -e PROGRAM} --trace TRACE [ARG...] [-- ARG...]",
		Short:   "Run a script on the events of a trace on disk",
		Long:    runLong,
		Example: runExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, text, args, err := o.source(cmd, env, args)
			if err != nil {
				return err
			}
			return runScriptText(cmd.Context(), env, &o, name, text, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.program, "expression", "e", "", "the text of the script is `PROGRAM`")
	flags.StringVar(&o.trace, "trace", "", "run it on the events of `TRACE`")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line, as bpftrace -f json")
	flags.BoolVar(&o.check, "check", false, "check the script and do not run it")
	flags.BoolVar(&o.explain, "explain", false, "print the script's probes, fields and maps and do not run it")
	flags.BoolVar(&o.unsafe, "unsafe", false, "permit the script to run commands with system()")
	flags.DurationVarP(&o.duration, "duration", "d", 0, "end after `DURATION` of the trace, such as 10s or 2m")
	flags.Uint64VarP(&o.events, "events", "n", 0, "end after `N` events that pass the predicate of a probe")
	flags.StringVarP(&o.out, "output", "o", "", "write the results to `FILE`, - for standard output")
	flags.StringVarP(&o.command, "command", "c", "", "")
	flags.StringVar(&o.file, "file", "", "")
	flags.StringVar(&o.engine, "engine", "", "")
	flags.StringVarP(&o.pids, "pid", "p", "", "")
	flags.BoolVar(&o.follow, "follow", false, "")
	for _, name := range []string{"command", "file", "engine", "pid", "follow"} {
		_ = flags.MarkHidden(name)
	}
	completeRun(cmd)
	return cmd
}

// source returns the name and the text of the script, and its arguments.
func (o *runOptions) source(cmd *cobra.Command, env *term.Env, args []string) (name, text string, rest []string, err error) {
	switch {
	case o.pids != "" || o.command != "" || o.file != "" || o.engine != "" || o.follow:
		return "", "", nil, term.Usage("waymark record -o trace …, then waymark run … --trace trace",
			"%s reads recorded traces and does not attach to programs: record one with waymark record, and name it with --trace", cmd.CommandPath())
	case !cmd.Flags().Changed("expression") && len(args) == 0:
		return "", "", nil, term.Usage("such as waymark run --trace trace -e 'marker:* { @[probe] = count(); }'", "%s needs a SCRIPT or -e PROGRAM", cmd.CommandPath())
	case o.trace == "" && !o.check && !o.explain:
		return "", "", nil, term.Usage("waymark record -o trace … makes a trace; --check only checks the script", "%s needs --trace TRACE", cmd.CommandPath())
	}
	if err := checkDuration(o.duration); err != nil {
		return "", "", nil, err
	}
	if cmd.Flags().Changed("expression") {
		return "-e", o.program, args, nil
	}
	if text, err = readScript(env, args[0]); err != nil {
		return "", "", nil, err
	}
	return args[0], text, args[1:], nil
}

// maxScript is one byte more than the parser takes.
const maxScript = 1<<20 + 1

// readScript reads a script from a file or, for "-", from standard input.
func readScript(env *term.Env, path string) (string, error) {
	from := env.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", term.WithHint(fmt.Errorf("reading the script: %w", err), "SCRIPT is a file; -e PROGRAM takes the text of a script")
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxScript))
	if err != nil {
		return "", fmt.Errorf("reading the script: %w", err)
	}
	return string(text), nil
}

// runScriptText checks a script, and runs it unless only the check is wanted.
func runScriptText(ctx context.Context, env *term.Env, o *runOptions, name, text string, args []string) error {
	s, err := script.Parse(name, text)
	if err != nil {
		return scriptError(env, err)
	}
	var target *script.Target
	var r *recording.Reader
	var damage error
	if o.trace != "" {
		if r, damage = openTrace(env, o.trace); r == nil {
			return damage
		}
		defer r.Close()
		target = &script.Target{Points: r.Points(), Has: r.Has, Args: args, Unsafe: o.unsafe}
	}
	p, err := s.Check(target)
	if err != nil {
		return scriptError(env, err)
	}
	for _, w := range p.Warnings {
		printMistake(env, "warning", w)
	}
	if o.explain {
		for line := range strings.Lines(p.Explain()) {
			if err := term.Linef(env.Stdout, "%s", strings.TrimSuffix(line, "\n")); err != nil {
				return err
			}
		}
	}
	if o.check || o.explain {
		return nil
	}
	return runOnTrace(ctx, env, o, p, r, damage)
}

// openTrace opens a trace. If a part of it can be read, it prints the errors of the rest, and returns them with a Reader.
func openTrace(env *term.Env, path string) (*recording.Reader, error) {
	done := env.Progress("opening %s", term.Label(path))
	r, damage := recording.Open(path)
	done()
	if r == nil && errors.Is(damage, ctf.ErrVersion2) {
		return nil, damage
	}
	if r == nil {
		return nil, term.WithHint(damage, "TRACE is a directory with a file named metadata, or with such below it, as waymark record and LTTng write them")
	}
	if damage != nil {
		explain.Print(env, damage)
	}
	return r, damage
}

// runOnTrace runs a program on a trace and reports its warnings.
func runOnTrace(ctx context.Context, env *term.Env, o *runOptions, p *script.Program, r *recording.Reader, damage error) error {
	var result *script.Result
	var broken error
	err := env.WithOutput(o.out, func(out *term.Output) error {
		result, broken = p.Run(ctx, r, &script.Options{
			Out: out.Exact(), JSON: o.json, Escape: true, Events: o.events, Duration: o.duration,
			Message: func(severity, position, text string) { env.Message("%s: %s: %s", position, severity, text) },
		})
		return out.Flush()
	})
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		env.Warning("%s", w)
	}
	if lost, packets := result.Lost, r.LostPackets(); lost > 0 || packets > 0 {
		env.Warning("the trace lacks %s that the tracer lost%s", term.Plural(lost, "event"), packetsText(packets))
	}
	if broken != nil {
		explain.Print(env, broken)
	}
	switch {
	case result.Status != 0:
		return term.StatusFailure(result.Status)
	case broken != nil || damage != nil:
		return term.StatusFailure(term.StatusError)
	}
	return nil
}

func packetsText(n uint64) string {
	if n == 0 {
		return ""
	}
	return ", and " + term.Plural(n, "packet")
}

// scriptError prints the mistakes of a script and returns the exit status for them.
func scriptError(env *term.Env, err error) error {
	for _, e := range script.Errors(err) {
		printMistake(env, "error", e)
	}
	return term.StatusFailure(term.StatusError)
}

// printMistake prints a mistake with its line, carets below it, and a hint.
func printMistake(env *term.Env, severity string, e *script.Error) {
	line, carets := e.Snippet()
	env.Message("%s: %s", severity, e.Error())
	env.Message("  %s", line)
	env.Message("  %s", carets)
	if e.Hint != "" {
		env.Hint("%s", e.Hint)
	}
}

// completeRun completes scripts and traces by files, and in a PROGRAM the names of markers and of their fields.
func completeRun(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || cmd.Flags().Changed("expression") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"bt"}, cobra.ShellCompDirectiveFilterFileExt
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(cmd.RegisterFlagCompletionFunc("trace", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}))
	must(cmd.RegisterFlagCompletionFunc("expression", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		trace, _ := cmd.Flags().GetString("trace")
		r, _ := recording.Open(trace)
		if r == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer r.Close()
		return completeProgram(r.Points(), prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
}

// completeProgram completes the last word of a program: a probe or a field.
func completeProgram(points []*event.Point, prefix string) []string {
	at := strings.LastIndexAny(prefix, " \t\n{}()[];,=<>+*%&|!/") + 1
	before, word := prefix[:at], prefix[at:]
	seen := map[string]bool{}
	var all []string
	add := func(s string) {
		if strings.HasPrefix(s, word) && !seen[s] {
			seen[s] = true
			all = append(all, before+s)
		}
	}
	for _, p := range points {
		if category, ok := strings.CutPrefix(p.FullName(), "kernel:"); ok {
			add("tracepoint:" + category)
		} else {
			add("marker:" + p.FullName())
		}
		for _, f := range p.Fields {
			if strings.HasPrefix(word, "a") {
				add("args." + f.Name)
			}
		}
	}
	return all
}
