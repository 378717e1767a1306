package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/doctor"
)

const doctorLong = `Say what this kernel, these privileges and a process allow, and repair counters left raised.

Without a target it looks at the kernel, its settings and the privileges at hand, and attaches to an
instruction of its own to see. With -p PID it looks at a process, with FILE at the file and every
process that maps it, and says of the rest only what is not in order. Each line is ok, warn (stat and
trace work, something else does not) or fail (they do not). Exit status: 0 when stat and trace will work,
1 otherwise.

A reference counter that is raised makes its marker cost what it costs while traced. One is left
behind when it is raised, no instruction of its marker's sites differs from the file's, no debugger is
there, and that lasts. --repair shows what it would do and asks; --yes does not ask. A counter
is written only if it, the process and the instructions are what was shown.`

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

func newDoctorCommand(env *Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:     "doctor [-p PID | FILE] [--repair [--yes]] [--json]",
		Short:   "Say what can be traced here, and repair what dead tracers left",
		Long:    doctorLong,
		Example: doctorExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("pid")
			if err := checkPID(cmd, o.pid); err != nil {
				return err
			}
			switch {
			case given && len(args) > 0 || len(args) > 1:
				return usage("give -p PID, or one FILE, or neither", "doctor looks at one target")
			case len(args) == 1:
				o.file = args[0]
			case !given && (o.repair || o.yes):
				return usage("give -p PID or FILE", "nothing says where to repair")
			}
			return runDoctor(cmd.Context(), env, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&o.pid, "pid", "p", 0, "the process `PID`")
	flags.BoolVar(&o.repair, "repair", false, "lower the counters that were left raised, after asking")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	return cmd
}

func runDoctor(ctx context.Context, env *Env, o *doctorOptions) error {
	d := &diagnosis{env: env, o: o, style: styleFor(env.Stdout)}
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
		return statusFailure(statusError) // the lines have said why
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
