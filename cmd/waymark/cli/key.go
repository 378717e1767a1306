package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
)

// pointError says of which kind of points none matches a pattern.
func pointError(kind string, err error) error {
	var none *tracer.NoMatchError
	if !errors.As(err, &none) || kind == view.PointMarker {
		return err
	}
	return term.WithHint(fmt.Errorf("no %s matches %q", kind, none.Pattern), "%s", explain.NoMatchHint(none))
}

const keyLong = `Switch the keys of a Go program: branches declared with package statickey.

The program's agent switches them, without privilege, until Ctrl-C, -d or the
end of the process. Then keys return to their state, however waymark ends. Keys
count: one that the program itself has enabled stays on when it is switched off
once more often than on by others.

NAME is provider:name as the program declares it, or a pattern such as 'app:*'.`

const keyExample = `  waymark key list -p 1234                the keys of a process
  waymark key on -p 1234 app:verbose      on until Ctrl-C
  waymark key off -d 10s -p 1234 'app:*'  off for ten seconds`

const armLong = `Arm markers of a Go program, so that functions that the program itself connected
to them run.

The program's agent arms them, without privilege, until Ctrl-C, -d or the end of
the process. Hits are counted meanwhile: waymark list -p PID --engine agent
shows them. Tracing needs no arming: stat, trace and record do it themselves.`

const armExample = `  waymark arm -p 1234 'http:*'
  waymark arm -d 10s -p 1234 http:request_start`

// switchFlags are what is common to what switches things in a program.
type switchFlags struct {
	pid      int
	duration time.Duration
}

func (f *switchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.pid, "pid", "p", 0, "the process `PID`")
	flags.DurationVarP(&f.duration, "duration", "d", 0, "end after `DURATION`, such as 10s or 2m")
}

// withAgent connects to the agent of -p.
func (f *switchFlags) withAgent(cmd *cobra.Command, do func(*client.Agent) error) error {
	if err := session.CheckPID(cmd, f.pid); err != nil {
		return err
	}
	if f.pid == 0 {
		return term.Usage("such as -p 1234", "%s needs a process", cmd.CommandPath())
	}
	if err := checkDuration(f.duration); err != nil {
		return err
	}
	return withAgent(f.pid, do)
}

// withAgent connects to the agent of a process for as long as do takes.
func withAgent(pid int, do func(*client.Agent) error) error {
	a, err := client.Dial(pid)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

func newKeyCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "key {list | on | off} [FLAGS] -p PID [NAME...]", Short: "Switch the keys of a Go program",
		Long: keyLong, Example: keyExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return term.Usage("there is list, on and off", "key has no command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newKeyListCommand(env), newKeySwitchCommand(env, "on", true), newKeySwitchCommand(env, "off", false))
	return cmd
}

func newKeyListCommand(env *term.Env) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use: "list -p PID [NAME...]", Short: "List the keys of a program", Long: "List the keys of a program, and which are on.",
		Example: "  waymark key list -p 1234",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withAgent(cmd, func(a *client.Agent) error {
				keys, err := pointsOf(a, view.PointKey, args)
				if err != nil {
					return err
				}
				t := term.Table{Right: make([]bool, 2)}
				t.Add("KEY", "STATE")
				for _, k := range keys {
					t.Add(term.Label(k.Name), view.KeyState(k))
				}
				return t.Print(env.Stdout, nil)
			})
		},
	}
	cmd.Flags().IntVarP(&f.pid, "pid", "p", 0, "the process `PID`")
	completePoints(cmd, &f, view.PointKey)
	return cmd
}

func newKeySwitchCommand(env *term.Env, verb string, on bool) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use: verb + " [FLAGS] -p PID NAME...", Short: "Switch keys " + verb + " until Ctrl-C", Long: keyLong, Example: keyExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.hold(cmd, env, view.PointKey, args, func(a *client.Agent, names []string) error { return a.Switch(names, on) },
				func(names []string) string { return term.List(names) + " switched " + verb })
		},
	}
	f.add(cmd)
	completePoints(cmd, &f, view.PointKey)
	return cmd
}

func newArmCommand(env *term.Env) *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use: "arm [FLAGS] -p PID NAME...", Short: "Arm markers for functions of the program itself", Long: armLong, Example: armExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.hold(cmd, env, view.PointMarker, args, (*client.Agent).Arm,
				func(names []string) string { return term.Plural(len(names), "marker") + " armed" })
		},
	}
	f.add(cmd)
	completePoints(cmd, &f, view.PointMarker)
	return cmd
}

// hold does something to points and waits for the end, which undoes it.
func (f *switchFlags) hold(cmd *cobra.Command, env *term.Env, kind string, patterns []string, do func(*client.Agent, []string) error, said func([]string) string) error {
	if len(patterns) == 0 {
		return term.Usage("waymark list --engine agent -p PID shows the names", "%s needs a name", cmd.CommandPath())
	}
	return f.withAgent(cmd, func(a *client.Agent) error {
		points, err := pointsOf(a, kind, patterns)
		if err != nil {
			return err
		}
		var names []string
		for _, p := range points {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
		if err := do(a, names); err != nil {
			return err
		}
		env.Message("%s in process %d; Ctrl-C undoes it", term.Printable(said(names)), f.pid)
		return f.wait(cmd.Context(), a)
	})
}

// wait returns at Ctrl-C, after -d or when the program has ended.
func (f *switchFlags) wait(ctx context.Context, a *client.Agent) error {
	ended := make(chan struct{})
	go func() {
		a.Wait()
		close(ended)
	}()
	var deadline <-chan time.Time
	if f.duration > 0 {
		timer := time.NewTimer(f.duration)
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-ctx.Done():
	case <-deadline:
	case <-ended:
	}
	return nil
}

// pointsOf returns the points of a kind that patterns select, all without one.
func pointsOf(a *client.Agent, kind string, patterns []string) ([]client.Point, error) {
	all, err := a.Points()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p client.Point) bool { return p.Kind != kind })
	if len(all) == 0 {
		return nil, term.WithHint(fmt.Errorf("the program has no %ss", kind), "waymark list --engine agent -p PID shows what it has")
	}
	some, err := choosePoints(all, patterns)
	return some, pointError(kind, err)
}

// choosePoints returns those that patterns select, as they select markers.
func choosePoints(all []client.Point, patterns []string) ([]client.Point, error) {
	return selectBy(all, patterns, func(p client.Point) event.Point {
		if provider, name, ok := strings.Cut(p.Name, ":"); ok {
			return event.Point{Provider: provider, Name: name}
		}
		return event.Point{Name: p.Name}
	})
}

// selectBy is tracer.Select for whatever has points.
func selectBy[T any](all []T, patterns []string, point func(T) event.Point) (some []T, err error) {
	of := map[*tracer.Marker]T{}
	var markers []*tracer.Marker
	for _, one := range all {
		m := &tracer.Marker{Point: point(one)}
		of[m] = one
		markers = append(markers, m)
	}
	markers, err = tracer.Select(markers, patterns)
	for _, m := range markers {
		some = append(some, of[m])
	}
	return some, err
}

// completePoints makes the shell complete names of points of -p.
func completePoints(cmd *cobra.Command, f *switchFlags, kind string) {
	completeNames(cmd, func() (names []string) {
		_ = withAgent(f.pid, func(a *client.Agent) error { // a shell that completes prints no errors
			points, err := pointsOf(a, kind, nil)
			for _, p := range points {
				names = append(names, p.Name)
			}
			return err
		})
		return names
	})
}
