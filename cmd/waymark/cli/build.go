package cli

import (
	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/build"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer/link"
)

const buildLong = `Build a Go program and link its markers: go build, then waymark link.

Flags and packages are passed to go build as they are. Two more flags are those
of waymark link: --optimize makes sites read no memory while off, and --no-watch
then leaves out the goroutine that checks for kernel tracers. -o DIR/ takes
several packages. go build chooses the name without -o. An unlinked program
never appears under that name: after an error, the old file is still there.`

const buildExample = `  waymark build ./cmd/server                         ./server
  waymark build -o bin/ ./cmd/server                 bin/server
  waymark build --optimize ./cmd/server              sites read no memory
  waymark build -race -tags prod -ldflags=-s -o app .`

func newBuildCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:                "build [--optimize] [-o OUTPUT] [go build flags] [package or files]",
		Short:              "go build, with markers that every tracer sees",
		Long:               buildLong,
		Example:            buildExample,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			line, err := build.Parse(args)
			if err != nil {
				return err
			}
			if line.Help {
				return cmd.Help()
			}
			return build.Run(cmd.Context(), env, line)
		},
	}
}

const linkLong = `Make the markers of finished Go executables visible to every tracer.

link adds standard SDT notes to an executable of go build, and the names and
types of fields that waymark shows. No byte of code moves; the program runs as
before. Linking again does nothing.

With --optimize, sites that provably only test their armed word are rewritten:
while off, they read no memory and execute a jump or a NOP; arming patches them
in the running program, one byte each (docs/patching.md). The program then
checks every 100 ms whether a kernel tracer wants a marker. Linking without
--optimize restores the code.

Simple markers are found in the sources that the program's debugging information
names: in the module cache, in the working directory's module, or in the
--source directories. waymark list shows their probe locations; -v shows here
why some have none (docs/simple.md).

The file is replaced in one step and keeps its mode. A running program keeps the
file that it was started from.`

const linkExample = `  waymark link server                     in place
  waymark link -o server.linked server    into another file
  waymark link -v bin/*                   with what was found
  waymark link --optimize -v server       sites read no memory`

func newLinkCommand(env *term.Env) *cobra.Command {
	var out string
	var verbose bool
	var options link.Options
	cmd := &cobra.Command{
		Use:     "link [-o OUT] FILE...",
		Short:   "Make the markers of Go executables visible to every tracer",
		Long:    linkLong,
		Example: linkExample,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.Usage("such as waymark link ./server", "link needs a FILE")
			}
			if out != "" && len(args) > 1 {
				return term.Usage("link them one by one, or in place", "-o %s has room for one FILE, not %d", out, len(args))
			}
			return runLink(env, args, out, options, verbose)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `OUT` instead of in place")
	cmd.Flags().BoolVar(&options.Optimize, "optimize", false, "make sites read no memory while off")
	cmd.Flags().BoolVar(&options.NoWatch, "no-watch", false, "with --optimize: do not check for kernel tracers")
	cmd.Flags().StringArrayVar(&options.Sources, "source", nil, "search `DIR` for sources of simple markers, too")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show every marker with its sites")
	return cmd
}

// runLink links all files, also after one that could not be linked.
func runLink(env *term.Env, paths []string, out string, o link.Options, verbose bool) error {
	var first error
	for _, path := range paths {
		done := env.Progress("linking %s", path)
		report, err := build.Link(path, out, o)
		done()
		if err == nil {
			err = build.Print(env, env.Stdout, report, report.Path, verbose)
		}
		switch {
		case err == nil:
		case term.IsBrokenPipe(err):
			return err
		case first == nil:
			first = explain.Link(path, err)
		default:
			explain.Print(env, explain.Link(path, err))
		}
	}
	return first
}
