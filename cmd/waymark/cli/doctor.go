package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/doctor"
)

const doctorLong = `Report what can be traced here, and repair what dead tracers left.

Without a target it checks the kernel, its settings and the privileges at hand,
and attaches to an instruction of its own. With -p PID it also checks a process,
with FILE the file and every process that maps it; of the rest it then reports
problems only. Each line is ok, warn (stat and trace work, something else does
not) or fail (they do not). Exit status: 0 if stat and trace will work, 1
otherwise.

A raised reference counter makes its marker as expensive as while it is traced.
A counter counts as leaked if it stays raised, no instruction of its marker's
sites differs from the file, and no debugger is attached. --repair shows the
repair and asks; --yes does not ask. A counter is written only if the counter,
the process and the instructions are still as shown.`

const doctorExample = `  waymark doctor                           will stat and trace work here?
  waymark doctor -p 1234                   with this process?
  waymark doctor ./server                  with every process that runs it?
  waymark doctor -p 1234 --repair          look, ask, repair
  waymark doctor -p 1234 --repair --yes    for scripts`

type doctorOptions struct {
	pid               int
	file              string
	repair, yes, json bool
}

func newDoctorCommand(env *term.Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:     "doctor [-p PID | FILE] [--repair [--yes]] [--json]",
		Short:   "Report what can be traced here, and repair leaks",
		Long:    doctorLong,
		Example: doctorExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("pid")
			if err := session.CheckPID(cmd, o.pid); err != nil {
				return err
			}
			switch {
			case given && len(args) > 0 || len(args) > 1:
				return term.Usage("give -p PID, or one FILE, or neither", "doctor looks at one target")
			case len(args) == 1:
				o.file = args[0]
			case !given && (o.repair || o.yes):
				return term.Usage("give -p PID or FILE", "nothing says where to repair")
			}
			return runDoctor(cmd.Context(), env, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&o.pid, "pid", "p", 0, "the process `PID`")
	flags.BoolVar(&o.repair, "repair", false, "lower leaked counters, after asking")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	return cmd
}

func runDoctor(ctx context.Context, env *term.Env, o *doctorOptions) error {
	d := &diagnosis{env: env, o: o, style: term.StyleFor(env.Stdout)}
	d.system()
	switch {
	case o.pid != 0:
		d.process(ctx, o.pid)
	case o.file != "":
		d.mapped(ctx, o.file)
	}
	if d.err != nil {
		return d.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.repair(); err != nil {
		return err
	}
	if d.failed {
		return term.StatusFailure(term.StatusError) // the lines have said why
	}
	return nil
}

func (d *diagnosis) system() {
	for _, c := range doctor.CheckSystem() {
		if c.Status != doctor.OK || d.o.pid == 0 && d.o.file == "" {
			d.say(0, c)
		}
	}
}

func (d *diagnosis) mapped(ctx context.Context, file string) {
	checks, pids := doctor.CheckFile(ctx, file)
	for _, c := range checks {
		d.say(0, c)
	}
	for _, pid := range pids {
		d.process(ctx, pid)
	}
}

func (d *diagnosis) process(ctx context.Context, pid int) {
	checks, markers := doctor.CheckPID(ctx, pid)
	for _, c := range checks {
		d.say(pid, c)
	}
	if len(markers) > 0 {
		d.counters(pid, markers)
	}
}

// diagnosis prints checks, and keeps what came of them.
type diagnosis struct {
	env    *term.Env
	o      *doctorOptions
	style  term.Style
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
		d.err = view.WriteJSON(d.env.Stdout, object)
		return
	}
	status := term.Pad(c.Status.String(), len("fail"))
	if c.Status != doctor.OK {
		status = d.style.Bold(status)
	}
	line := status + "  " + term.Pad(c.Name, widestCheck) + "  " + term.Printable(strings.ReplaceAll(c.Reason, "\n", "; "))
	if c.Hint != "" {
		line += d.style.Dim("  (" + term.Printable(c.Hint) + ")")
	}
	d.err = term.Linef(d.env.Stdout, "%s", line)
}

// counters looks at the reference counters of a process. Those that are as they were in the file
// are objects only.
func (d *diagnosis) counters(pid int, markers []*tracer.Marker) {
	counters, err := doctor.Counters(pid, markers)
	if err != nil {
		text, hint := explain.Error(err)
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
	sum := doctor.Check{Name: "counters", Reason: fmt.Sprintf("%s in process %d: %d raised, %d left behind", term.Plural(len(counters), "counter"), pid, raised, leaked)}
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
	why := fmt.Sprintf("%s traced", term.Plural(c.Attached, "site"))
	switch {
	case c.Leaked && c.Attached > 0:
		check.Status, why = doctor.Warn, "left by a tracer that died, with its probe"
	case c.Leaked:
		check.Status, why = doctor.Warn, "left by a tracer that died"
	case c.Value == c.Initial:
		why = "not raised"
	case c.Debugger != 0:
		why = fmt.Sprintf("process %d debugs it", c.Debugger)
	case c.Attached == 0:
		why = "a tracer comes or goes"
	case c.Unsure != nil:
		why += ", or left behind: " + term.ErrorText(c.Unsure)
	}
	check.Reason = fmt.Sprintf("%s at %#x is %d: %s", term.Label(strings.Join(c.Markers, ", ")), c.Address, c.Value, why)
	return check
}

// repair gives leaked counters their values back, after the user has agreed.
func (d *diagnosis) repair() error {
	if len(d.leaked) == 0 || !d.o.repair {
		return nil
	}
	if !d.o.yes {
		answer := d.env.Ask("give %s the value of the file back? [y/N]", term.Plural(len(d.leaked), "counter"))
		if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
			return term.WithHint(errors.New("nothing was repaired"), "answer y, or give --yes")
		}
	}
	var failed []error
	for i, err := range doctor.Repair(d.leaked) {
		c := &d.leaked[i]
		if err != nil {
			failed = append(failed, err)
			continue
		}
		d.say(c.PID, doctor.Check{Name: "repaired", Reason: fmt.Sprintf("%s: %d is %d again", term.Label(strings.Join(c.Markers, ", ")), c.Value, c.Initial)})
	}
	return errors.Join(append(failed, d.err)...)
}
