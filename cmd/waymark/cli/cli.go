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

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/demo"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

const rootLong = `Static tracing for Go programs, and for every program that has SDT markers.

A marker is a named place in a program, such as http:request_start. It costs next to
nothing until somebody looks at it. Put one into a Go program with package marker, build it
with "waymark build", and look with "waymark stat" and "waymark trace".

Exit status: 0 when all went well, also when Ctrl-C or -d ended a trace; 1 for an error; 2
for a command line that makes no sense; 130 when Ctrl-C came before there was anything to
end, or twice. With "-- COMMAND" it is that of the command, 128+N when signal N ended it,
unless waymark itself ended it because of -d or -n.`

const rootExample = `  waymark build -o server ./cmd/server        a go build whose markers every tracer sees
  waymark list ./server                       the markers of a file
  waymark stat -p 1234 'http:*'               how often each is hit, live
  waymark trace -p 1234 http:request_start    one line for each hit
  waymark latency -p 1234 http:request_start http:request_end
                                              how long it takes from one to the other
  waymark trace -- ./server -port 8080        from the first instruction on`

// usageTemplate is cobra's without what waymark has no use for.
const usageTemplate = `Usage:
  {{.UseLine}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}

{{.CommandPath}} COMMAND --help says more about a command.
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
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
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err)
	})
	root.SuggestionsMinimumDistance = 2
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddCommand(
		newListCommand(env),
		newStatCommand(env),
		newTraceCommand(env),
		newLatencyCommand(env),
		newRecordCommand(env),
		newReportCommand(env),
		newSnapshotCommand(env),
		newRecoverCommand(env),
		newSessionsCommand(env),
		newKeyCommand(env),
		newArmCommand(env),
		newLinkCommand(env),
		newBuildCommand(env),
		newVetCommand(env),
		newVetFixCommand(),
		newProbeCommand(env),
		newDoctorCommand(env),
		newDemoCommand(env),
		newVersionCommand(env),
		newPauseCommand(),
	)
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, knownShell
			cmd.Example = "  source <(waymark completion bash)        in this shell; waymark completion bash --help says how in all"
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
		Short:   "Say more about a command",
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
		return term.Usage("there is bash, fish, powershell and zsh", "no completions for %q", args[0])
	}
	return cmd.Help()
}

// goSays matches what Go's packages say of a flag's value in words of their own.
var goSays = regexp.MustCompile(`strconv\.\w+: parsing ("[^"]*"): (invalid syntax|value out of range)`)

// flagError says what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	text, hint := err.Error(), cmd.CommandPath()+" --help shows the flags"
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

const demoLong = `Shows what waymark does, on a real web server, in a few seconds.

It builds the example server, links it so that every tracer sees its markers, lists them,
runs the server under a load of its own on the loopback interface, counts the markers' hits
while it runs, and shows how long requests took, from pairs of markers joined by goroutine.
It ends by itself. Where the kernel's tracing is not permitted, the agent inside the server does
the looking instead, and it says so.`

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
