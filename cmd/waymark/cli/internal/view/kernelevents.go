package view

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer/kernelevent"
)

// PrintEvents prints a table of the kernel's events with their hits.
func PrintEvents(out *term.Output, events []kernelevent.Event) error {
	if len(events) == 0 {
		return nil
	}
	t := term.Table{Right: []bool{false, true, false, false, false}}
	t.Add("EVENT", "HITS", "ON", "MARKER", "PLACE")
	for i := range events {
		e := &events[i]
		marker := "-"
		if e.Marker != "" {
			marker = term.Label(e.Marker)
		}
		p := e.Places[0]
		place := fmt.Sprintf("%s:%#x", term.Label(p.Path), p.Offset)
		if p.Return {
			place += " return"
		}
		if more := len(e.Places) - 1; more > 0 {
			place += fmt.Sprintf(" and %d more", more)
		}
		t.Add(term.Label(e.FullName()), fmt.Sprint(e.Hits), yesNo(e.Enabled), marker, place)
	}
	return t.Print(out, out.Style.Dim)
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

// EventsJSON prints an object for each of the kernel's events.
func EventsJSON(out *term.Output, events []kernelevent.Event) error {
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
		if err := WriteJSON(out, j); err != nil {
			return err
		}
	}
	return nil
}

// EventText names an event and how many places it has.
func EventText(name string, places int) string {
	if places == 1 {
		return term.Label(name)
	}
	return fmt.Sprintf("%s at %d sites", term.Label(name), places)
}

// PrintDefined prints events that were defined, with their arguments and the reasons of those that are left out.
func PrintDefined(out *term.Output, events []kernelevent.Event) error {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		line := EventText(e.FullName(), len(e.Places))
		if args := argNames(e); args != "" {
			line += "  " + args
		}
		if e.Existed {
			line += "  (there already)"
		}
		term.Linef(&b, "%s", line)
		for _, r := range e.Remarks {
			what := ""
			if r.Left {
				what = " is left out"
			}
			term.Linef(&b, "  %s%s: %v", term.Label(r.Arg), what, r.Because)
		}
	}
	_, err := out.Write([]byte(b.String()))
	return err
}

// argNames returns the names and types of an event's arguments: "arg1 s32, arg2 u8".
func argNames(e *kernelevent.Event) string {
	var words []string
	for _, arg := range e.Places[0].Args {
		name, fetch, _ := strings.Cut(arg, "=")
		words = append(words, name+" "+fetch[strings.LastIndexByte(fetch, ':')+1:])
	}
	return term.Label(strings.Join(words, ", "))
}

// PrintDefinitions prints lines for uprobe_events.
func PrintDefinitions(out *term.Output, events []kernelevent.Event) error {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		for _, p := range e.Places {
			line := fmt.Sprintf("p:%s/%s %s:%#x", e.Group, e.Name, p.Path, p.Offset)
			if p.Counter != 0 {
				line += fmt.Sprintf("(%#x)", p.Counter)
			}
			for _, arg := range p.Args {
				line += " " + arg
			}
			term.Linef(&b, "%s", line)
		}
	}
	_, err := out.Write([]byte(b.String()))
	return err
}
