package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

const probeLong = `Define markers as events of the kernel, which perf and ftrace then use.

An event is called sdt_PROVIDER:NAME, as perf probe calls it, belongs to nobody and stays
until it is deleted or the machine restarts. It costs nothing until somebody switches it on;
then the kernel also raises the marker's reference counter. Unlike perf probe this needs no
build id and no cache, defines every argument that the kernel can express, and markers whose
sites differ.`

const probeExample = `  waymark probe add ./server 'http:*'              define them
  perf record -e 'sdt_http:*' -a sleep 10          and use them
  waymark probe list                               what there is, and how often it was hit
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
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// eventText names an event and how many places it has.
func eventText(name string, places int) string {
	if places == 1 {
		return term.Label(name)
	}
	return fmt.Sprintf("%s at %d sites", term.Label(name), places)
}
