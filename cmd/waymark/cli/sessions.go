package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

const sessionsLong = `List recordings that programs with an agent make by themselves, and those that
dead programs left.

waymark record --flight starts one. It goes on until it is stopped or its
program ends; waymark snapshot writes the events that it holds. Recordings of
dead programs stay in shared memory until waymark recover --remove or sessions
remove deletes them, or newer recordings need the room: dead programs keep at
most 256 MiB.`

const sessionsExample = `  waymark sessions                       everything that this user may see
  waymark sessions stop -p 1234 flight   end one, and forget what it kept
  waymark sessions remove -p 1234        forget what a dead program left`

func newSessionsCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions [stop | remove]", Short: "List and end recordings of agents", Long: sessionsLong, Example: sessionsExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return term.Usage("there is stop and remove, and sessions alone lists them", "sessions has no command %q", args[0])
			}
			return listSessions(env)
		},
	}
	cmd.AddCommand(
		newSessionCommand("stop [-p PID] [NAME]", "End a recording, and forget what it kept", "  waymark sessions stop -p 1234 flight", true,
			func(s *client.Session) error {
				return withAgent(s.PID, func(a *client.Agent) error { return a.StopSession(s.Name) })
			}),
		newSessionCommand("remove [-p PID] [NAME]", "Forget what a dead program left", "  waymark sessions remove -p 1234", false, (*client.Session).Remove),
	)
	return cmd
}

func newSessionCommand(use, short, example string, alive bool, do func(*client.Session) error) *cobra.Command {
	var pid int
	cmd := &cobra.Command{
		Use: use, Short: short, Long: short + ".", Example: example, Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := session.CheckPID(cmd, pid); err != nil {
				return err
			}
			s, err := findSession(pid, strings.Join(args, ""), alive)
			if err != nil {
				return err
			}
			return do(s)
		},
	}
	cmd.Flags().IntVarP(&pid, "pid", "p", 0, "of the process `PID`")
	completeSessions(cmd, &pid, alive)
	return cmd
}

func listSessions(env *term.Env) error {
	all, err := client.Sessions()
	if len(all) == 0 {
		if err != nil {
			return err
		}
		env.Message("nobody records")
		return nil
	}
	t := term.Table{Right: []bool{true, false, false, false, true, true, true, true, false}}
	t.Add("PID", "SESSION", "PROGRAM", "STATE", "SIZE", "MARKERS", "EVENTS", "LOST", "SINCE")
	for i := range all {
		s := &all[i]
		row := []string{fmt.Sprint(s.PID), term.Label(s.Name), term.Label(filepath.Base(s.Executable)), sessionState(s), view.BytesText(uint64(max(s.Size, 0)))}
		if s.Alive {
			row = append(row, fmt.Sprint(s.Markers), fmt.Sprint(s.Recorded), fmt.Sprint(s.Lost))
		} else {
			row = append(row, "-", "-", "-")
		}
		t.Add(append(row, s.Began.Local().Format("2006-01-02 15:04:05"))...)
	}
	if err != nil {
		env.Warning("%v", err)
	}
	return t.Print(env.Stdout, nil)
}

func sessionState(s *client.Session) string {
	state := "recording"
	if s.Flight {
		state = "flight"
	}
	if !s.Alive {
		state = "dead"
	}
	return state
}

// findSession returns the recording that is meant: the only one that has what was given.
func findSession(pid int, name string, alive bool) (*client.Session, error) {
	all, err := sessionsFor(pid, alive)
	some := slices.DeleteFunc(slices.Clone(all), func(s client.Session) bool {
		return s.Alive != alive || alive && !s.Named || pid != 0 && s.PID != pid || name != "" && s.Name != name
	})
	switch {
	case len(some) == 1:
		return &some[0], nil
	case len(some) > 1:
		const most = 10
		var names []string
		for _, s := range some[:min(len(some), most)] {
			names = append(names, fmt.Sprintf("-p %d %s", s.PID, s.Name))
		}
		if more := len(some) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		return nil, term.Usage("give one of "+term.List(names), "%d recordings are meant", len(some))
	case err != nil:
		return nil, err
	}
	return nil, noSession(all, pid, name, alive)
}

// sessionsFor returns the recordings of the process alone if it lives, so that no other agent has to answer.
func sessionsFor(pid int, alive bool) (all []client.Session, err error) {
	if pid != 0 && alive {
		err = withAgent(pid, func(a *client.Agent) (err error) {
			all, err = a.Sessions()
			return err
		})
		if err == nil {
			return all, nil
		}
	}
	return client.Sessions()
}

// noSession is the error of a recording that is not there, or not of that kind.
func noSession(all []client.Session, pid int, name string, alive bool) error {
	other := pid != 0 && slices.ContainsFunc(all, func(s client.Session) bool {
		return s.PID == pid && s.Alive != alive && (name == "" || s.Name == name)
	})
	switch {
	case alive && other:
		return term.WithHint(fmt.Errorf("process %d is dead", pid), "waymark recover -p %d writes what it has left, waymark sessions remove -p %d forgets it", pid, pid)
	case other:
		return term.WithHint(fmt.Errorf("process %d is alive", pid), "waymark snapshot -p %d writes what it has recorded, waymark sessions stop -p %d ends that", pid, pid)
	case alive:
		return term.WithHint(errors.New("there is no such recording"), "waymark sessions shows what there is; waymark record --flight 64M -p PID starts one")
	}
	hint := "waymark sessions shows what there is"
	if f, err := os.Stat(name); err == nil && f.Mode().IsRegular() {
		hint += "; the file of that name is ./" + name
	}
	return term.WithHint(errors.New("no dead program has left such a recording"), "%s", hint)
}

// completeSessions makes the shell complete names of recordings.
func completeSessions(cmd *cobra.Command, pid *int, alive bool) {
	completeNames(cmd, func() (names []string) {
		all, _ := client.Sessions()
		for _, s := range all {
			if s.Alive == alive && (*pid == 0 || s.PID == *pid) {
				names = append(names, s.Name)
			}
		}
		return names
	})
}

const snapshotLong = `Write the events that a recording holds as a trace on disk, while it goes on.

waymark record --flight starts such a recording, waymark sessions lists them. -p
and the name can be left out if there is only one.`

const recoverLong = `Write the events that a dead program recorded, up to its last complete one, as a
trace on disk.

The program may have died by a panic, by SIGKILL, or for want of memory.
Recordings that waymark record --flight starts are in shared memory and stay
there; waymark sessions shows them as dead. -p and the name can be left out if
there is only one. FILE is a ring file that was copied elsewhere.

If a ring is damaged, the events before the damage are in the trace, and the
error names the position.`

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
	return session.CheckPID(cmd, f.pid)
}

func (f *traceFlags) directory() string {
	if f.out == "" {
		return time.Now().Format("waymark-20060102-150405")
	}
	return f.out
}

func newSnapshotCommand(env *term.Env) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use: "snapshot [-p PID] [-o DIR] [NAME]", Short: "Write the events that a recording holds",
		Long: snapshotLong, Example: "  waymark snapshot\n  waymark snapshot -p 1234 -o before-restart flight", Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			s, err := findSession(f.pid, strings.Join(args, ""), true)
			if err != nil {
				return err
			}
			return withAgent(s.PID, func(a *client.Agent) error {
				events, err := a.Snapshot(s.Name)
				if err != nil {
					return err
				}
				return saveTrace(cmd.Context(), env, f.directory(), events, s)
			})
		},
	}
	f.add(cmd)
	completeSessions(cmd, &f.pid, true)
	return cmd
}

func newRecoverCommand(env *term.Env) *cobra.Command {
	var f traceFlags
	var remove bool
	cmd := &cobra.Command{
		Use: "recover [-p PID] [-o DIR] [NAME | FILE]", Short: "Write the events that a dead program recorded",
		Long: recoverLong, Example: "  waymark recover\n  waymark recover --remove -p 1234 -o crash\n  waymark recover -o crash ./saved.ring", Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			name := strings.Join(args, "")
			if strings.Contains(name, "/") {
				if remove {
					return term.Usage("remove it yourself", "--remove is for what waymark sessions shows, not for a FILE")
				}
				events, s, err := client.OpenRing(name)
				if err != nil {
					return term.WithHint(err, "FILE is the ring file of a recording; those that dead programs have left are shown by waymark sessions, and taken without FILE")
				}
				return saveTrace(cmd.Context(), env, f.directory(), events, s)
			}
			s, err := findSession(f.pid, name, false)
			if err != nil {
				return err
			}
			events, err := s.Recover()
			if err != nil {
				return err
			}
			if err := saveTrace(cmd.Context(), env, f.directory(), events, s); err != nil || !remove {
				return err
			}
			return s.Remove()
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&remove, "remove", false, "delete the recording once all is written")
	completeSessions(cmd, &f.pid, false)
	return cmd
}

// saveTrace writes events as a trace and reports how many there were. Events before a damage are written.
func saveTrace(ctx context.Context, e *term.Env, dir string, events *client.Ring, s *client.Session) error {
	defer events.Close()
	trace, err := recording.Create(dir, &recording.Options{Env: []ctf.EnvEntry{
		recording.Text("target", fmt.Sprintf("process %d", s.PID)), recording.Text("session", s.Name),
		recording.Text("executable_0", s.Executable), recording.Number("pid_0", int64(s.PID)),
	}})
	if err != nil {
		return explain.Directory(dir, err)
	}
	sum, err := trace.Record(ctx, events)
	if errors.Is(err, ctf.ErrStopped) {
		return explain.Disk(err)
	}
	others, problems := "lost", events.Problems()
	if s.Flight {
		others = "older ones overwritten"
		if len(problems) > 0 {
			others += " or lost"
		}
	}
	e.Message("%s, %d %s: %s in %s", term.Plural(sum.Events, "event"), sum.Total(), others, view.BytesText(sum.Bytes), dir)
	view.WarnLost(e, problems)
	return err
}
