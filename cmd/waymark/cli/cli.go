// Package cli is the waymark command: one file for each verb, with its flags and its help.
//
// What verbs share is below, each package above the next:
//
//	internal/build, internal/demo    go build with linking; the demonstration
//	internal/session                 targets, engines, and what ends a verb that attaches
//	internal/view                    tables and JSON
//	internal/explain                 hints for errors
//	internal/term                    streams, messages, colour, columns
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/demo"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

const rootLong = `Static tracing for Go programs, and for every program that has SDT markers.

A marker is a named trace point in a program, such as http:request_start. It
costs next to nothing until it is traced. Declare one with package marker, build
the program with "waymark build", and trace it with "waymark stat" and "waymark
trace". A hit is one execution of a marker; an event is a hit that was printed
or recorded, with its fields.

Exit status: 0 for success, also when Ctrl-C or -d ended a trace; 1 for an
error; 2 for wrong usage; 130 when Ctrl-C came before there was anything to end,
or twice. With "-- COMMAND" it is the exit status of the command, 128+N if
signal N ended it, unless waymark ended it because of -d or -n.`

const rootExample = `  waymark build -o server ./cmd/server       a go build with visible markers
  waymark list ./server                      the markers of a file
  waymark stat -p 1234 'http:*'              hits of each marker, live
  waymark trace -p 1234 http:request_start   one line for each hit
  waymark latency -p 1234 http:request_start http:request_end
                                             time from one to the other
  waymark trace -- ./server -port 8080       from the first instruction on`

// usageTemplate is cobra's without what waymark has no use for.
const usageTemplate = `Usage:
  {{.UseLine}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- $all := .Commands}}
{{- range $group := .Groups}}

{{.Title}}:
{{- range $all}}{{if and .IsAvailableCommand (eq .GroupID $group.ID)}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}{{end}}
{{- if .HasAvailableSubCommands}}

{{if .Groups}}Other{{else}}Commands{{end}}:
{{- range $all}}{{if and .IsAvailableCommand (eq .GroupID "")}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}

Use "{{.CommandPath}} COMMAND --help" for more about a command.
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{- end}}
`

// Env is what the waymark command has of the outside: its standard streams.
type Env = term.Streams

// Main runs the waymark command with args, which lack the program's name, and returns its
// exit status.
func Main(ctx context.Context, args []string, streams *Env) int {
	env := term.NewEnv(*streams)
	ctx, stop := term.NotifySignals(ctx, env)
	defer stop()
	root := newRoot(env)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	return exitStatus(env, err)
}

// Command returns the waymark command, for generators of manual pages and completions. Main runs it.
func Command() *cobra.Command {
	return newRoot(term.NewEnv(Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}))
}

func newRoot(env *term.Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "waymark COMMAND",
		Short:         "Static tracing for Go programs and everything else with SDT markers",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       strings.TrimPrefix(currentVersion(), "waymark "),
	}
	root.SetVersionTemplate("waymark {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err)
	})
	root.SuggestionsMinimumDistance = 2
	cobra.EnableCommandSorting = false // groups are in the order of use
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	for _, group := range []struct {
		title string
		verbs []*cobra.Command
	}{
		{"Look", []*cobra.Command{newListCommand(env), newStatCommand(env), newTraceCommand(env), newLatencyCommand(env)}},
		{"Record", []*cobra.Command{
			newRecordCommand(env), newReportCommand(env), newSnapshotCommand(env), newRecoverCommand(env), newSessionsCommand(env),
		}},
		{"Prepare", []*cobra.Command{
			newBuildCommand(env), newLinkCommand(env), newVetCommand(env), newKeyCommand(env), newArmCommand(env), newProbeCommand(env),
		}},
		{"Check and repair", []*cobra.Command{newDoctorCommand(env)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, verb := range group.verbs {
			verb.GroupID = group.title
			root.AddCommand(verb)
		}
	}
	root.AddCommand(newDemoCommand(env), newVersionCommand(env), newVetFixCommand(), newPauseCommand())
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, knownShell
			cmd.Example = "  source <(waymark completion bash)   in this shell"
		}
		completePIDs(cmd)
		for _, sub := range cmd.Commands() {
			sub.DisableFlagsInUseLine = true
		}
		cmd.DisableFlagsInUseLine = true
	}
	root.DisableFlagsInUseLine = true
	return root
}

// knownCommand refuses words that no command has.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "waymark --help shows the commands"
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = "did you mean " + strings.Join(s, " or ")
	}
	return term.Usage(hint, "unknown command %q", args[0])
}

// newHelpCommand is cobra's, which takes any word for a topic.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Example: "  waymark help trace",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && about != cmd.Root() && len(rest) > 0 {
				err = fmt.Errorf("%s has no command %q", about.CommandPath(), rest[0])
			}
			if err != nil {
				return term.Usage("waymark --help shows the commands", "%w", err)
			}
			if about == cmd.Root() {
				if err := knownCommand(about, args); err != nil {
					return err
				}
			}
			return about.Help()
		},
	}
}

// knownShell refuses shells that there is no completion for.
func knownShell(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return term.Usage("use bash, fish, powershell or zsh", "no completions for %q", args[0])
	}
	return cmd.Help()
}

// goSays matches what Go's packages say of a flag's value in words of their own.
var goSays = regexp.MustCompile(`strconv\.\w+: parsing ("[^"]*"): (invalid syntax|value out of range)`)

// flagError reports a wrong flag or value.
func flagError(cmd *cobra.Command, err error) error {
	text, hint := err.Error(), cmd.CommandPath()+" --help shows the flags"
	if near := similarFlag(cmd, text); near != "" {
		hint = "did you mean --" + near + "?"
	}
	if m := goSays.FindStringSubmatch(text); m != nil {
		reason := m[1] + " is no number"
		if m[2] == "value out of range" {
			reason = m[1] + " is out of range"
		}
		text = goSays.ReplaceAllLiteralString(text, reason)
	}
	if before, after, ok := strings.Cut(text, ": time: "); ok {
		text, hint = before+": "+after, "a duration has a unit, such as 500ms, 1s or 2m"
	}
	return term.Usage(hint, "%s", text)
}

// similarFlag returns the flag that is most similar to an unknown one, "" if none is.
func similarFlag(cmd *cobra.Command, text string) string {
	wrong, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return ""
	}
	var names cobra.Command
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	names.SuggestionsMinimumDistance = 2
	if near := names.SuggestionsFor(wrong); len(near) > 0 {
		return near[0]
	}
	return ""
}

// exitStatus prints err and returns the exit status for it.
func exitStatus(e *term.Env, err error) int {
	var status term.StatusFailure
	var hinted *term.Hinted
	switch {
	case err == nil, term.IsBrokenPipe(err):
		return term.StatusOK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled):
		return term.StatusInterrupted
	case errors.As(err, &hinted) && hinted.Usage, errors.Is(err, path.ErrBadPattern):
		explain.Print(e, err)
		return term.StatusUsage
	}
	explain.Print(e, err)
	return term.StatusError
}

func newVersionCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of waymark",
		Example: "  waymark version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			return term.Linef(env.Stdout, "%s", versionLine(info))
		},
	}
}

// newPauseCommand is for containers of an image without a shell, whose verbs come by exec.
func newPauseCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "pause",
		Short:   "Wait for a signal, as the first process of a container",
		Example: "  docker run -d --privileged --pid=host waymark:VERSION pause",
		Hidden:  true,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			<-cmd.Context().Done()
			return nil
		},
	}
}

// release is the version of a released binary, which the linker sets.
var release string

// currentVersion returns the version line of this binary.
func currentVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionLine(info)
}

// versionLine returns the version of the release or else of the module, with the commit if there is one.
func versionLine(info *debug.BuildInfo) string {
	version, commit := "(unknown)", ""
	if info != nil {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " " + s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	if release != "" {
		version = release
	}
	return fmt.Sprintf("waymark %s%s %s %s/%s", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

const demoLong = `Show what waymark does, on a real web server, in less than a minute.

It builds the example server, links it, lists its markers, runs it under a load
of its own on the loopback interface, counts the hits while it runs, and shows
how long requests took, from pairs of markers joined by goroutine. It ends by
itself. Without permission to trace through the kernel it uses the agent in the
server, and its output says so.`

func newDemoCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Show what waymark does, on a real web server",
		Long:    demoLong,
		Example: "  go run ./cmd/waymark demo        in a clone of waymark",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), env) },
	}
}
