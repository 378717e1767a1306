package cli

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/kernelevent"
)

const probeDeleteLong = `Delete events of the kernel.

Patterns are globs over events, such as 'sdt_http:*'; one without a colon matches the name in
any group that begins with sdt_. Events of other groups are deleted only when the pattern
spells the group out: they are somebody else's. An event that is in use is kept, and that is
an error; the others are deleted all the same. It takes root.`

const probeDeleteExample = `  waymark probe del sdt_http:request_start
  waymark probe del 'sdt_http:*'
  waymark probe del '*'                   everything that waymark or perf defined for markers`

func newProbeDeleteCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "del PATTERN...",
		Aliases: []string{"delete", "rm"},
		Short:   "Delete events",
		Long:    probeDeleteLong,
		Example: probeDeleteExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("waymark probe list shows the events; '*' is all of markers", "probe del needs a pattern")
			}
			events, err := kernelevent.List()
			if err != nil {
				return err
			}
			if events, err = selectEvents(events, args, true); err != nil {
				return err
			}
			var failed []error
			for i := range events {
				e := &events[i]
				if err := kernelevent.Delete(e.Group, e.Name); err != nil {
					failed = append(failed, err)
					continue
				}
				if _, err := fmt.Fprintf(env.Stdout, "deleted %s\n", eventText(e.FullName(), len(e.Places))); err != nil {
					return err
				}
			}
			return errors.Join(failed...)
		},
	}
}

// selectEvents returns the events that any of the patterns matches. careful leaves out other
// people's groups unless a pattern spells them out.
func selectEvents(events []kernelevent.Event, patterns []string, careful bool) ([]kernelevent.Event, error) {
	chosen := make([]bool, len(events))
	for _, pattern := range patterns {
		group, name, ok := strings.Cut(pattern, ":")
		if !ok {
			group, name = "*", pattern
		}
		found := false
		for i := range events {
			e := &events[i]
			inGroup, err := path.Match(group, e.Group)
			named, err2 := path.Match(name, e.Name)
			if err := errors.Join(err, err2); err != nil {
				return nil, usage("such as 'sdt_http:*'", "pattern %q: %v", pattern, err)
			}
			if careful && e.Group != group && !strings.HasPrefix(e.Group, "sdt_") {
				continue
			}
			if inGroup && named {
				chosen[i], found = true, true
			}
		}
		if !found {
			hint := "waymark probe list shows the events"
			if slices.ContainsFunc(events, func(e kernelevent.Event) bool { return e.Group == "sdt_"+group }) {
				hint = "did you mean 'sdt_" + pattern + "'"
			}
			return nil, withHint(fmt.Errorf("no event matches %q", pattern), "%s", hint)
		}
	}
	var out []kernelevent.Event
	for i, e := range events {
		if chosen[i] {
			out = append(out, e)
		}
	}
	return out, nil
}
