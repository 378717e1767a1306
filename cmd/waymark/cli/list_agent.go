package cli

import (
	"context"
	"fmt"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// listAgents lists what the agents of processes tell of: markers, tracepoints and keys.
func listAgents(env *term.Env, o *listOptions, sel *selection) error {
	if len(sel.target.PIDs) == 0 {
		return term.Usage("such as waymark list --engine agent -p 1234", "an agent is that of a process, by -p PID")
	}
	return env.WithOutput(o.out, func(out *term.Output) error {
		for i, pid := range sel.target.PIDs {
			points, err := agentPoints(pid, sel.patterns)
			if err == nil && o.json {
				err = view.WritePoints(out, pid, points)
			} else if err == nil {
				if i > 0 {
					fmt.Fprintln(out)
				}
				if len(sel.target.PIDs) > 1 {
					fmt.Fprintln(out, out.Style.Bold(fmt.Sprintf("process %d", pid)))
				}
				err = view.PrintPoints(out, points)
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
