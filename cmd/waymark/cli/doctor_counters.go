package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// doctor prints checks, and keeps what came of them.
type doctor struct {
	env    *term.Env
	o      *doctorOptions
	style  term.Style
	leaked []tracer.CounterState
	failed bool  // some check did
	err    error // of printing, the first
}

// jsonCheck is an object of doctor --json.
type jsonCheck struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	PID    int    `json:"pid,omitempty"`
	*jsonCounter
}

// jsonCounter is what the object of a counter has besides.
type jsonCounter struct {
	Markers []string `json:"markers"`
	Address uint64   `json:"address"`
	Value   uint16   `json:"value"`
	Initial uint16   `json:"initial"`
}

// widestCheck is as wide as the longest name of a check.
const widestCheck = len("unprivileged_bpf_disabled")

func (d *doctor) say(pid int, c tracer.Check) { d.print(c, &jsonCheck{PID: pid}) }

func (d *doctor) print(c tracer.Check, object *jsonCheck) {
	d.failed = d.failed || c.Status == tracer.StatusFail
	if d.err != nil {
		return
	}
	if d.o.json {
		object.Check, object.Status, object.Reason, object.Hint = c.Name, c.Status.String(), c.Reason, c.Hint
		d.err = view.WriteJSON(d.env.Stdout, object)
		return
	}
	status := term.Pad(c.Status.String(), len("fail"))
	if c.Status != tracer.StatusOK {
		status = d.style.Bold(status)
	}
	line := status + "  " + term.Pad(c.Name, widestCheck) + "  " + term.Printable(strings.ReplaceAll(c.Reason, "\n", "; "))
	if c.Hint != "" {
		line += d.style.Dim("  (" + term.Printable(c.Hint) + ")")
	}
	_, d.err = fmt.Fprintln(d.env.Stdout, line)
}

// counters looks at the reference counters of a process. Those that are as they were in the file
// are objects only.
func (d *doctor) counters(pid int, markers []*tracer.Marker) {
	counters, err := tracer.Counters(pid, markers)
	if err != nil {
		text, hint := explain.Error(err)
		d.say(pid, tracer.Check{Name: "counters", Status: tracer.StatusWarn, Reason: text, Hint: hint})
		return
	}
	raised, leaked := 0, 0
	for _, c := range counters {
		if c.Value != c.Initial {
			raised++
		}
		if c.Leaked {
			leaked++
			d.leaked = append(d.leaked, c)
		}
		if c.Value != c.Initial || d.o.json {
			d.print(counterCheck(&c), &jsonCheck{PID: pid, jsonCounter: &jsonCounter{c.Markers, c.Address, c.Value, c.Initial}})
		}
	}
	sum := tracer.Check{Name: "counters", Reason: fmt.Sprintf("%s in process %d: %d raised, %d left behind", term.Plural(len(counters), "counter"), pid, raised, leaked)}
	if leaked > 0 {
		sum.Status = tracer.StatusWarn
		if !d.o.repair {
			sum.Hint = fmt.Sprintf("waymark doctor -p %d --repair lowers what was left behind", pid)
		}
	}
	d.say(pid, sum)
}

func counterCheck(c *tracer.CounterState) tracer.Check {
	check := tracer.Check{Name: "counter"}
	why := fmt.Sprintf("%s traced", term.Plural(c.Attached, "site"))
	switch {
	case c.Leaked:
		check.Status, why = tracer.StatusWarn, "left by a tracer that died"
	case c.Value == c.Initial:
		why = "not raised"
	case c.Debugger != 0:
		why = fmt.Sprintf("process %d debugs it", c.Debugger)
	case c.Attached == 0:
		why = "a tracer comes or goes"
	}
	check.Reason = fmt.Sprintf("%s at %#x is %d: %s", term.Label(strings.Join(c.Markers, ", ")), c.Address, c.Value, why)
	return check
}

// repair gives leaked counters their values back, after the user has agreed.
func (d *doctor) repair() error {
	if len(d.leaked) == 0 || !d.o.repair {
		return nil
	}
	if !d.o.yes {
		fmt.Fprintf(d.env.Stderr, "waymark: give %s the value of the file back? [y/N] ", term.Plural(len(d.leaked), "counter"))
		answer, _ := bufio.NewReader(d.env.Stdin).ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return term.WithHint(errors.New("nothing was repaired"), "answer y, or give --yes")
		}
	}
	var failed []error
	for i := range d.leaked {
		c := &d.leaked[i]
		if err := c.Repair(); err != nil {
			failed = append(failed, err)
			continue
		}
		d.say(c.PID, tracer.Check{Name: "repaired", Reason: fmt.Sprintf("%s: %d is %d again", term.Label(strings.Join(c.Markers, ", ")), c.Value, c.Initial)})
	}
	return errors.Join(append(failed, d.err)...)
}
