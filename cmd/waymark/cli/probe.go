package cli

import (
	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

const probeListLong = `List the user-space events of the kernel: those of waymark probe add, and everybody else's.

HITS is how often an event was hit since it was defined, while anybody had it on. ON says
whether ftrace has it on; the kernel does not tell who has opened it with perf. MARKER is what
the file's notes have at that place. Patterns are globs over events, such as 'sdt_http:*'. It
takes root.`

const probeListExample = `  waymark probe list
  waymark probe list 'sdt_http:*'
  waymark probe list --json`

func newProbeListCommand(env *term.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [PATTERN...]",
		Short:   "List the events there are, with their hits",
		Long:    probeListLong,
		Example: probeListExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			events, err := tracer.KernelEvents()
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
