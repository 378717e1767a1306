package cli

import (
	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/demo"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

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
