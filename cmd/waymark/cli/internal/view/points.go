package view

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
)

// jsonPoint is an object of list --engine agent --json: what an agent tells of a point.
type jsonPoint struct {
	PID     int            `json:"pid"`
	Kind    string         `json:"kind"`
	Point   string         `json:"point"`
	Format  string         `json:"format,omitempty"`
	Fields  []jsonArgument `json:"fields"`
	Armed   int            `json:"armed"`
	Kernel  int            `json:"kernel"`
	Probes  []string       `json:"probes"`
	Hits    uint64         `json:"hits"`
	Problem string         `json:"problem,omitempty"`
}

type jsonArgument struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Verb        string `json:"verb,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

// PrintPoints prints a table of the points that an agent reports.
func PrintPoints(out *term.Output, points []client.Point) error {
	t := term.Table{Right: []bool{false, false, false, true, true, true}}
	t.Add("KIND", "NAME", "FIELDS", "ARMED", "PROBES", "HITS")
	for _, p := range points {
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, strings.TrimSpace(term.Label(f.Name)+" "+term.Label(f.Type)))
		}
		armed, hits := fmt.Sprint(p.Armed+p.Kernel), fmt.Sprint(p.Hits)
		if p.Kind == PointKey {
			armed, hits = KeyState(p), "-"
		}
		t.Add(p.Kind, term.Label(p.Name), strings.Join(fields, ", "), armed, fmt.Sprint(len(p.Probes)), hits)
	}
	if err := t.Print(out, out.Style.Bold); err != nil {
		return err
	}
	for _, p := range points {
		if p.Problem != "" {
			fmt.Fprintf(out, "%s: %s\n", term.Label(p.Name), term.Printable(p.Problem))
		}
		for _, f := range p.Fields {
			if f.Unavailable != "" {
				fmt.Fprintf(out, "%s: %s has no value: %s\n", term.Label(p.Name), term.Label(f.Name), term.Printable(string(f.Unavailable)))
			}
		}
	}
	return nil
}

// WritePoints prints an object for each point that the agent of a process reports.
func WritePoints(out *term.Output, pid int, points []client.Point) error {
	for _, p := range points {
		j := jsonPoint{
			PID: pid, Kind: p.Kind, Point: p.Name, Format: p.Format, Fields: []jsonArgument{}, Armed: p.Armed, Kernel: p.Kernel,
			Probes: append([]string{}, p.Probes...), Hits: p.Hits, Problem: p.Problem,
		}
		for _, f := range p.Fields {
			a := jsonArgument{Name: f.Name, Type: f.Type, Verb: f.Verb}
			if f.Unavailable != "" {
				a.Unavailable = string(f.Unavailable)
			}
			j.Fields = append(j.Fields, a)
		}
		if err := WriteJSON(out, &j); err != nil {
			return err
		}
	}
	return nil
}

// PointsText counts markers and tracepoints.
func PointsText(markers []*tracer.Marker) string {
	n := 0
	for _, m := range markers {
		if m.Tracepoint {
			n++
		}
	}
	switch n {
	case 0:
		return term.Plural(len(markers), "marker")
	case len(markers):
		return term.Plural(n, "tracepoint")
	}
	return term.Plural(len(markers)-n, "marker") + " and " + term.Plural(n, "tracepoint")
}

// KeyState returns whether a key is on, and how often when that is more than once.
func KeyState(k client.Point) string {
	switch {
	case k.Armed > 1:
		return fmt.Sprintf("on (%d times)", k.Armed)
	case k.Armed == 1:
		return "on"
	}
	return "off"
}

// The kinds of points.
const (
	PointMarker     = "marker"
	pointTracepoint = "tracepoint"
	PointKey        = "key"
)
