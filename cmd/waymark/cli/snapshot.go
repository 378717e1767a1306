package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

const snapshotLong = `Write what a recording has kept until now as a trace on disk, while it goes on.

waymark record --flight starts such a recording, waymark sessions shows them. -p and the name can be
left out where only one can be meant.`

const recoverLong = `Write what a dead program has recorded, up to its last complete event, as a trace on disk.

However it died: a panic, SIGKILL, the kernel for want of memory. Recordings that live in the program, as
waymark record --flight starts them, are in shared memory and stay there; waymark sessions
shows them as dead. -p and the name can be left out where only one can be meant. FILE is a
ring file that was copied elsewhere.

What was written before a damage is in the trace, and the error says where that is.`

// traceFlags say where a trace goes.
type traceFlags struct {
	pid int
	out string
}

func (f *traceFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&f.pid, "pid", "p", 0, "of the process `PID`")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the trace to the directory `DIR`, which must be new")
}

// check refuses what cannot be meant.
func (f *traceFlags) check(cmd *cobra.Command) error {
	if f.out == "-" {
		return usageNoStream()
	}
	return checkPID(cmd, f.pid)
}

func (f *traceFlags) directory() string {
	if f.out == "" {
		return time.Now().Format("waymark-20060102-150405")
	}
	return f.out
}

func newSnapshotCommand(env *Env) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use: "snapshot [-p PID] [-o DIR] [NAME]", Short: "Write what a recording has kept until now",
		Long: snapshotLong, Example: "  waymark snapshot\n  waymark snapshot -p 1234 -o before-restart flight", Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			s, err := findSession(f.pid, strings.Join(args, ""), true)
			if err != nil {
				return err
			}
			a, err := client.Dial(s.PID)
			if err != nil {
				return err
			}
			defer a.Close()
			events, err := a.Snapshot(s.Name)
			if err != nil {
				return err
			}
			return env.saveTrace(cmd.Context(), f.directory(), events, s)
		},
	}
	f.add(cmd)
	completeSessions(cmd, &f.pid, true)
	return cmd
}

func newRecoverCommand(env *Env) *cobra.Command {
	var f traceFlags
	var remove bool
	cmd := &cobra.Command{
		Use: "recover [-p PID] [-o DIR] [NAME | FILE]", Short: "Write what a dead program has recorded",
		Long: recoverLong, Example: "  waymark recover\n  waymark recover --remove -p 1234 -o crash\n  waymark recover -o crash ./saved.ring", Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			name := strings.Join(args, "")
			if strings.Contains(name, "/") {
				if remove {
					return usage("remove it yourself", "--remove is for what waymark sessions shows, not for a FILE")
				}
				events, s, err := client.OpenRing(name)
				if err != nil {
					return withHint(err, "FILE is the ring file of a recording; those that dead programs have left are shown by waymark sessions, and taken without FILE")
				}
				return env.saveTrace(cmd.Context(), f.directory(), events, s)
			}
			s, err := findSession(f.pid, name, false)
			if err != nil {
				return err
			}
			events, err := s.Recover()
			if err != nil {
				return err
			}
			if err := env.saveTrace(cmd.Context(), f.directory(), events, s); err != nil || !remove {
				return err
			}
			return s.Remove()
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&remove, "remove", false, "and forget it, when all is written")
	completeSessions(cmd, &f.pid, false)
	return cmd
}

// saveTrace writes events as a trace and reports how many there were. Events before a damage are written.
func (e *Env) saveTrace(ctx context.Context, dir string, events *client.Ring, s *client.Session) error {
	defer events.Close()
	trace, err := recording.Create(dir, &recording.Options{Env: []ctf.EnvEntry{
		recording.Text("target", fmt.Sprintf("process %d", s.PID)), recording.Text("session", s.Name),
		recording.Text("executable_0", s.Executable), recording.Number("pid_0", int64(s.PID)),
	}})
	if err != nil {
		return explainDirectory(dir, err)
	}
	sum, err := trace.Record(ctx, events)
	if errors.Is(err, ctf.ErrStopped) {
		return explainDisk(err)
	}
	others, problems := "lost", events.Problems()
	if s.Flight {
		others = "older ones overwritten"
		if len(problems) > 0 {
			others += " or lost"
		}
	}
	e.message("%s, %d %s: %s in %s", plural(sum.Events, "event"), sum.Total(), others, bytesText(sum.Bytes), dir)
	e.warnLost(problems)
	return err
}
