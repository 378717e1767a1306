package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer/client"
)

const sessionsLong = `List the recordings that programs with an agent make by themselves, and those that dead programs left.

waymark record --flight starts one. A recording that lives goes on until it is stopped or its
program ends; waymark snapshot writes what it has kept. What a dead program left is in
shared memory until waymark recover --remove or sessions remove takes it away, or newer recordings
need the room: dead programs keep at most 256 MiB.`

const sessionsExample = `  waymark sessions                       everything that this user may see
  waymark sessions stop -p 1234 flight   end one, and forget what it kept
  waymark sessions remove -p 1234        forget what a dead program left`

func newSessionsCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions [stop | remove]", Short: "List and end recordings that programs make by themselves", Long: sessionsLong, Example: sessionsExample,
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
				a, err := client.Dial(s.PID)
				if err != nil {
					return err
				}
				defer a.Close()
				return a.StopSession(s.Name)
			}),
		newSessionCommand("remove [-p PID] [NAME]", "Forget what a dead program left", "  waymark sessions remove -p 1234", false, (*client.Session).Remove),
	)
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
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
	all, err := client.Sessions()
	some := slices.DeleteFunc(slices.Clone(all), func(s client.Session) bool {
		return s.Alive != alive || alive && !s.Named || pid != 0 && s.PID != pid || name != "" && s.Name != name
	})
	switch {
	case len(some) == 1:
		return &some[0], nil
	case len(some) > 1:
		var names []string
		for _, s := range some {
			names = append(names, fmt.Sprintf("-p %d %s", s.PID, s.Name))
		}
		return nil, term.Usage("give one of "+term.List(names), "%d recordings are meant", len(some))
	case err != nil:
		return nil, err
	}
	return nil, noSession(all, pid, name, alive)
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
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		all, _ := client.Sessions()
		var names []string
		for _, s := range all {
			if s.Alive == alive && (*pid == 0 || s.PID == *pid) {
				names = append(names, s.Name)
			}
		}
		return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}
