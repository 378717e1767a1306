package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
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
func listAgents(env *term.Env, o *listOptions, sel *selection) error {
	if len(sel.target.PIDs) == 0 {
		return term.Usage("such as waymark list --engine agent -p 1234", "an agent is that of a process, by -p PID")
	}
	return env.WithOutput(o.out, func(out *term.Output) error {
		for i, pid := range sel.target.PIDs {
			points, err := agentPoints(pid, sel.patterns)
			if err == nil && o.json {
				err = writePoints(out, pid, points)
			} else if err == nil {
				if i > 0 {
					fmt.Fprintln(out)
				}
				if len(sel.target.PIDs) > 1 {
					fmt.Fprintln(out, out.Style.Bold(fmt.Sprintf("process %d", pid)))
				}
				err = printPoints(out, points)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// agentPoints returns the points of a process that patterns select, of all kinds.
func agentPoints(pid int, patterns []string) (some []tracer.Point, err error) {
	a, err := tracer.DialAgent(pid)
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

func printPoints(out *term.Output, points []tracer.Point) error {
	t := term.Table{Right: []bool{false, false, false, true, true, true}}
	t.Add("KIND", "NAME", "FIELDS", "ARMED", "PROBES", "HITS")
	for _, p := range points {
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, strings.TrimSpace(term.Label(f.Name)+" "+term.Label(f.Type)))
		}
		armed, hits := fmt.Sprint(p.Armed+p.Kernel), fmt.Sprint(p.Hits)
		if p.Kind == pointKey {
			armed, hits = keyState(p), "-"
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

func writePoints(out *term.Output, pid int, points []tracer.Point) error {
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
	markers, err := tracer.Find(context.Background(), sel.target)
	if err != nil || len(markers) > 0 {
		return false
	}
	for _, pid := range sel.target.PIDs {
		a, err := tracer.DialAgent(pid)
		if err != nil {
			return false
		}
		a.Close()
	}
	return true
}
