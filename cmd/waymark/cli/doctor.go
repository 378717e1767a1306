package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
)

const doctorLong = `Look at the reference counters of a process, and repair those that a dead tracer left raised.

A counter that is raised makes its marker cost what it costs while traced. One is left behind
when it is raised, no instruction of its marker's sites differs from the file's, no debugger is
there, and that lasts. --repair shows what it would do and asks; --yes does not ask. A counter
is written only if it, the process and the instructions are what was shown.`

const doctorExample = `  waymark doctor -p 1234                   look
  waymark doctor -p 1234 --repair          look, ask, repair
  waymark doctor -p 1234 --repair --yes    for scripts`

type doctorOptions struct {
	pid         int
	repair, yes bool
}

func newDoctorCommand(env *Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:     "doctor -p PID [--repair [--yes]]",
		Short:   "Find and repair what dead tracers left in a process",
		Long:    doctorLong,
		Example: doctorExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.pid <= 0 {
				return usage("waymark list shows the running processes that have markers", "doctor needs -p PID")
			}
			return runDoctor(cmd.Context(), env, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&o.pid, "pid", "p", 0, "the process `PID`")
	flags.BoolVar(&o.repair, "repair", false, "lower the counters that were left raised, after asking")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	return cmd
}

func runDoctor(ctx context.Context, env *Env, o *doctorOptions) error {
	markers, err := tracer.Find(ctx, tracer.Target{PID: o.pid})
	if err != nil {
		return err
	}
	counters, err := tracer.Counters(o.pid, markers)
	if err != nil {
		return err
	}
	var left []tracer.CounterState
	raised := 0
	for _, c := range counters {
		if c.Value == c.Initial {
			continue
		}
		raised++
		status, why := "ok", fmt.Sprintf("%s traced", plural(c.Attached, "site"))
		switch {
		case c.Left:
			status, why = "warn", "left by a tracer that died"
			left = append(left, c)
		case c.Debugger != 0:
			why = fmt.Sprintf("process %d debugs it", c.Debugger)
		case c.Attached == 0:
			why = "a tracer comes or goes"
		}
		if _, err := fmt.Fprintf(env.Stdout, "%-4s  %s  counter at %#x is %d: %s\n", status, label(strings.Join(c.Markers, ", ")), c.Address, c.Value, why); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(env.Stdout, "%s in process %d: %d raised, %d left behind\n", plural(len(counters), "counter"), o.pid, raised, len(left)); err != nil {
		return err
	}
	if len(left) == 0 {
		return nil
	}
	if !o.repair {
		env.hint("waymark doctor -p %d --repair lowers what was left behind", o.pid)
		return nil
	}
	return repairCounters(env, o, left)
}

func repairCounters(env *Env, o *doctorOptions, left []tracer.CounterState) error {
	if !o.yes {
		fmt.Fprintf(env.Stderr, "waymark: give %s the value of the file back? [y/N] ", plural(len(left), "counter"))
		answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return withHint(errors.New("nothing was repaired"), "answer y, or give --yes")
		}
	}
	var failed []error
	for i := range left {
		c := &left[i]
		if err := c.Repair(); err != nil {
			failed = append(failed, err)
			continue
		}
		if _, err := fmt.Fprintf(env.Stdout, "repaired %s: %d is %d again\n", label(strings.Join(c.Markers, ", ")), c.Value, c.Initial); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}
