package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/kernelevent"
)

const probeListLong = `List the user-space events of the kernel: those of waymark probe add, and everybody else's.

HITS is how often an event was hit since it was defined, while anybody had it on. ON says
whether ftrace has it on; the kernel does not tell who has opened it with perf. MARKER is what
the file's notes have at that place. Patterns are globs over events, such as 'sdt_http:*'. It
takes root.`

const probeListExample = `  waymark probe list
  waymark probe list 'sdt_http:*'
  waymark probe list --json`

func newProbeListCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [PATTERN...]",
		Short:   "List the events there are, with their hits",
		Long:    probeListLong,
		Example: probeListExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			events, err := kernelevent.List()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if events, err = selectEvents(events, args, false); err != nil {
					return err
				}
			}
			out, err := env.openOutput("", false)
			if err != nil {
				return err
			}
			if asJSON {
				err = eventsJSON(out, events)
			} else {
				err = printEvents(out, events)
			}
			if e := out.Close(); err == nil {
				err = e
			}
			if len(events) == 0 && !asJSON {
				env.message("there are no events; waymark probe add FILE defines some")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line: docs/json.md")
	return cmd
}

func printEvents(out *output, events []kernelevent.Event) error {
	if len(events) == 0 {
		return nil
	}
	t := table{right: []bool{false, true, false, false, false}}
	t.add("EVENT", "HITS", "ON", "MARKER", "PLACE")
	for i := range events {
		e := &events[i]
		marker := "-"
		if e.Marker != "" {
			marker = label(e.Marker)
		}
		p := e.Places[0]
		place := fmt.Sprintf("%s:%#x", label(p.Path), p.Offset)
		if p.Return {
			place += " return"
		}
		if more := len(e.Places) - 1; more > 0 {
			place += fmt.Sprintf(" and %d more", more)
		}
		t.add(label(e.FullName()), fmt.Sprint(e.Hits), yesNo(e.Enabled), marker, place)
	}
	lines := t.lines()
	lines[0] = styleFor(out.to).dim(lines[0])
	_, err := out.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// jsonKernelEvent is an object of probe add --json and probe list --json.
type jsonKernelEvent struct {
	Event   string            `json:"event"`
	Marker  string            `json:"marker,omitempty"`
	Places  []jsonPlace       `json:"places"`
	Hits    uint64            `json:"hits"`
	Enabled bool              `json:"enabled"`
	Existed bool              `json:"existed,omitempty"`
	Left    map[string]string `json:"left_out,omitempty"`
	Remarks map[string]string `json:"remarks,omitempty"`
}

type jsonPlace struct {
	Path    string   `json:"path"`
	Offset  uint64   `json:"offset"`
	Counter uint64   `json:"counter,omitempty"`
	Return  bool     `json:"return,omitempty"`
	Args    []string `json:"args"`
}

func eventsJSON(out *output, events []kernelevent.Event) error {
	for i := range events {
		e := &events[i]
		j := jsonKernelEvent{Event: e.FullName(), Marker: e.Marker, Hits: e.Hits, Enabled: e.Enabled, Existed: e.Existed,
			Left: map[string]string{}, Remarks: map[string]string{}}
		for _, p := range e.Places {
			j.Places = append(j.Places, jsonPlace{p.Path, p.Offset, p.Counter, p.Return, append([]string{}, p.Args...)})
		}
		for _, r := range e.Remarks {
			if r.Left {
				j.Left[r.Arg] = r.Because.Error()
			} else {
				j.Remarks[r.Arg] = r.Because.Error()
			}
		}
		if err := writeJSON(out, j); err != nil {
			return err
		}
	}
	return nil
}
