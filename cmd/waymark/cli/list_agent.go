package cli

import (
	"context"
	"fmt"
	"strings"

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

// listAgents lists what the agents of processes tell of: markers, tracepoints and keys.
func listAgents(_ context.Context, env *Env, o *listOptions, sel *selection) error {
	if len(sel.target.PIDs) == 0 {
		return usage("such as waymark list --engine agent -p 1234", "an agent is that of a process, by -p PID")
	}
	out, err := env.openOutput(o.out, false)
	if err != nil {
		return err
	}
	for i, pid := range sel.target.PIDs {
		var points []client.Point
		if points, err = agentPoints(pid, sel.patterns); err != nil {
			break
		}
		if o.json {
			err = writePoints(out, pid, points)
		} else {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if len(sel.target.PIDs) > 1 {
				fmt.Fprintln(out, styleFor(out.to).bold(fmt.Sprintf("process %d", pid)))
			}
			printPoints(out, points)
		}
		if err != nil {
			break
		}
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// agentPoints returns the points of a process that patterns select, of all kinds.
func agentPoints(pid int, patterns []string) (some []client.Point, err error) {
	a, err := client.Dial(pid)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	all, err := a.Points()
	if err != nil {
		return nil, err
	}
	return choosePoints(all, patterns)
}

func printPoints(out *output, points []client.Point) {
	t := table{right: []bool{false, false, false, true, true, true}}
	t.add("KIND", "NAME", "FIELDS", "ARMED", "PROBES", "HITS")
	for _, p := range points {
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, strings.TrimSpace(label(f.Name)+" "+label(f.Type)))
		}
		armed, hits := fmt.Sprint(p.Armed+p.Kernel), fmt.Sprint(p.Hits)
		if p.Kind == pointKey {
			armed, hits = keyState(p), "-"
		}
		t.add(p.Kind, label(p.Name), strings.Join(fields, ", "), armed, fmt.Sprint(len(p.Probes)), hits)
	}
	for i, line := range t.lines() {
		if i == 0 {
			line = styleFor(out.to).bold(line)
		}
		fmt.Fprintln(out, line)
	}
	for _, p := range points {
		if p.Problem != "" {
			fmt.Fprintf(out, "%s: %s\n", label(p.Name), printable(p.Problem))
		}
		for _, f := range p.Fields {
			if f.Unavailable != "" {
				fmt.Fprintf(out, "%s: %s has no value: %s\n", label(p.Name), label(f.Name), printable(string(f.Unavailable)))
			}
		}
	}
}

func writePoints(out *output, pid int, points []client.Point) error {
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
		if err := writeJSON(out, &j); err != nil {
			return err
		}
	}
	return nil
}

// listsAgents reports whether agents are to be asked: because that is wanted, or nothing else says anything.
func listsAgents(o *listOptions, sel *selection) bool {
	if o.engine != "" && o.engine != engineAuto || o.simple || o.verbose || len(sel.target.PIDs) == 0 {
		return o.engine == engineAgent
	}
	markers, err := sel.target.find(context.Background())
	if err != nil || len(markers) > 0 {
		return false
	}
	for _, pid := range sel.target.PIDs {
		a, err := client.Dial(pid)
		if err != nil {
			return false
		}
		a.Close()
	}
	return true
}
