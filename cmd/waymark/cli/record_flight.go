package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/client"
)

// runFlight starts a recording in a program, which goes on without waymark.
func runFlight(env *Env, cmd *cobra.Command, o *recordOptions, sel *selection) error {
	for _, name := range []string{"output", "duration", "count", "str", "buffer", "json", "kernel"} {
		if cmd.Flags().Changed(name) {
			return usage("waymark snapshot and waymark recover write it to disk", "--%s is of a recording that waymark makes, and --flight and --session are made by the program", name)
		}
	}
	pid := sel.onlyPID()
	if pid == 0 || o.follow || o.engine == engineKernel {
		return usage("such as waymark record --flight 64M -p 1234", "--flight and --session are for the agent of one process")
	}
	a, err := client.Dial(pid)
	if err != nil {
		return err
	}
	defer a.Close()
	s, err := a.StartSession(&client.SessionOptions{
		Name: cmp.Or(o.named, "flight"), Patterns: sel.patterns, Flight: o.flight > 0, Size: int64(o.flight), Where: o.where, MaxString: o.max,
	})
	if err != nil {
		return err
	}
	env.message("process %d records %s as %s, in %s", pid, plural(s.Markers, "marker"), s.Name, bytesText(uint64(s.Size)))
	env.hint("waymark snapshot -p %d %s writes it to disk, waymark recover -p %d %s when the program is dead", pid, s.Name, pid, s.Name)
	return nil
}
