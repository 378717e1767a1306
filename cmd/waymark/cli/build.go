package cli

import (
	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/build"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

const buildLong = `Build a Go program and link its markers: go build, then waymark link.

Flags and packages are passed to go build as they are. Two more flags are those of waymark
link: --optimize makes sites read no memory while off, and --no-watch then leaves out the
goroutine that looks for kernel tracers. -o DIR/ takes several packages. go build chooses the
name unless -o does. An unlinked program never appears under that name: when something goes
wrong, what was there before stays.`

const buildExample = `  waymark build ./cmd/server                         ./server
  waymark build -o bin/ ./cmd/server                 bin/server
  waymark build --optimize ./cmd/server              and sites that read no memory
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
