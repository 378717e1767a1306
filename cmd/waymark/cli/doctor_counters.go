package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/doctor"
)

// diagnosis prints checks, and keeps what came of them.
type diagnosis struct {
	env    *Env
	o      *doctorOptions
	style  style
	leaked []doctor.Counter
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

func (d *diagnosis) say(pid int, c doctor.Check) { d.print(c, &jsonCheck{PID: pid}) }

func (d *diagnosis) print(c doctor.Check, object *jsonCheck) {
	d.failed = d.failed || c.Status == doctor.Fail
	if d.err != nil {
		return
	}
	if d.o.json {
		object.Check, object.Status, object.Reason, object.Hint = c.Name, c.Status.String(), c.Reason, c.Hint
		d.err = writeJSON(d.env.Stdout, object)
		return
	}
	status := pad(c.Status.String(), len("fail"))
	if c.Status != doctor.OK {
		status = d.style.bold(status)
	}
	line := status + "  " + pad(c.Name, widestCheck) + "  " + printable(strings.ReplaceAll(c.Reason, "\n", "; "))
	if c.Hint != "" {
		line += d.style.dim("  (" + printable(c.Hint) + ")")
	}
	_, d.err = fmt.Fprintln(d.env.Stdout, line)
}

// counters looks at the reference counters of a process. Those that are as they were in the file
// are objects only.
func (d *diagnosis) counters(pid int, markers []*tracer.Marker) {
	counters, err := doctor.Counters(pid, markers)
	if err != nil {
		text, hint := explain(err)
		d.say(pid, doctor.Check{Name: "counters", Status: doctor.Warn, Reason: text, Hint: hint})
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
	sum := doctor.Check{Name: "counters", Reason: fmt.Sprintf("%s in process %d: %d raised, %d left behind", plural(len(counters), "counter"), pid, raised, leaked)}
	if leaked > 0 {
		sum.Status = doctor.Warn
		if !d.o.repair {
			sum.Hint = fmt.Sprintf("waymark doctor -p %d --repair lowers what was left behind", pid)
		}
	}
	d.say(pid, sum)
}

func counterCheck(c *doctor.Counter) doctor.Check {
	check := doctor.Check{Name: "counter"}
	why := fmt.Sprintf("%s traced", plural(c.Attached, "site"))
	switch {
	case c.Leaked:
		check.Status, why = doctor.Warn, "left by a tracer that died"
	case c.Value == c.Initial:
		why = "not raised"
	case c.Debugger != 0:
		why = fmt.Sprintf("process %d debugs it", c.Debugger)
	case c.Attached == 0:
		why = "a tracer comes or goes"
	}
	check.Reason = fmt.Sprintf("%s at %#x is %d: %s", label(strings.Join(c.Markers, ", ")), c.Address, c.Value, why)
	return check
}

// repair gives leaked counters their values back, after the user has agreed.
func (d *diagnosis) repair() error {
	if len(d.leaked) == 0 || !d.o.repair {
		return nil
	}
	if !d.o.yes {
		fmt.Fprintf(d.env.Stderr, "waymark: give %s the value of the file back? [y/N] ", plural(len(d.leaked), "counter"))
		answer, _ := bufio.NewReader(d.env.Stdin).ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return withHint(errors.New("nothing was repaired"), "answer y, or give --yes")
		}
	}
	var failed []error
	for i := range d.leaked {
		c := &d.leaked[i]
		if err := c.Repair(); err != nil {
			failed = append(failed, err)
			continue
		}
		d.say(c.PID, doctor.Check{Name: "repaired", Reason: fmt.Sprintf("%s: %d is %d again", label(strings.Join(c.Markers, ", ")), c.Value, c.Initial)})
	}
	return errors.Join(append(failed, d.err)...)
}
