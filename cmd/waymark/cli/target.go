package cli

import (
	"debug/elf"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// selection is what a command line says about where to look and for what.
type selection struct {
	target   subject
	patterns []string
	engine   engineFlag
	where    string // of --where; it chooses the markers that have its fields, save those that patterns name
	// kernel is what the patterns choose of the kernel's tracepoints; nil but of a recording, which can have them.
	kernel *[]string
}

// named says what the target is, in a message.
func (s *selection) named() string {
	switch {
	case len(s.target.PIDs) > 0:
		return pidsText(s.target.PIDs)
	case len(s.target.Command) > 0:
		return s.target.Command[0]
	case s.target.Path != "":
		return s.target.Path
	}
	return "any running process"
}

func pidsText(pids []int) string {
	if len(pids) == 1 {
		return fmt.Sprintf("process %d", pids[0])
	}
	return "processes " + pidList(pids)
}

// parseSelection sorts the arguments of a command: -p PID or the first of them or what
// follows "--" is the target, the others are patterns. The target may be missing.
func parseSelection(cmd *cobra.Command, pids []int, args []string) (*selection, error) {
	var s selection
	if cmd.Flags().Changed("pid") {
		for _, pid := range pids {
			if err := checkPID(cmd, pid); err != nil {
				return nil, err
			}
		}
		if len(pids) == 0 {
			return nil, usage("such as -p 12 or -p 12,34", "-p names no process")
		}
		s.target.PIDs = pids
	}
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		if s.target.Command, args = args[n:], args[:n]; len(s.target.Command) == 0 {
			return nil, usage("write the command and its arguments after --", "-- is followed by no command")
		}
		if len(pids) > 0 {
			return nil, twoTargets("-p "+pidList(pids), "-- "+s.target.Command[0])
		}
	}
	if len(s.target.PIDs) == 0 && len(s.target.Command) == 0 && len(args) > 0 && !isPattern(args[0]) {
		s.target.Path, args = args[0], args[1:]
	}
	for _, arg := range args {
		if strings.Contains(arg, "/") && !strings.Contains(arg, ":") {
			return nil, twoTargets(s.named(), arg)
		}
	}
	s.patterns = args
	return &s, nil
}

// checkPID refuses a number of -p that no process has.
func checkPID(cmd *cobra.Command, pid int) error {
	if cmd.Flags().Changed("pid") && pid <= 0 {
		return usage("a PID is a positive number", "-p %d is not a process", pid)
	}
	return nil
}

// follow is --follow.
func (s *selection) follow() error {
	if s.target.Path != "" {
		return usage("FILE is every process that maps it, children too", "--follow is for -p PID and -- COMMAND")
	}
	s.target.Follow = true
	return nil
}

// onlyPID returns the process when it is one, else 0.
func (s *selection) onlyPID() int {
	if len(s.target.PIDs) == 1 {
		return s.target.PIDs[0]
	}
	return 0
}

func twoTargets(a, b string) error {
	return usage("give one of -p PID, FILE and -- COMMAND", "%s and %s are two targets", a, b)
}

// pidList is how -p takes several.
func pidList(pids []int) string {
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return strings.Join(words, ",")
}

// isPattern reports whether an argument names markers rather than a file.
func isPattern(arg string) bool {
	return !strings.Contains(arg, "/") && strings.ContainsAny(arg, ":*?[")
}

// required returns a usage error when nothing says where to look.
func (s *selection) required(cmd *cobra.Command) error {
	if len(s.target.PIDs) > 0 || s.target.Path != "" || len(s.target.Command) > 0 {
		return nil
	}
	hint := "give -p PID, FILE or -- COMMAND; waymark list shows what is running"
	if len(s.patterns) > 0 {
		return usage(hint, "%s is a pattern, and nothing says where to look for it", s.patterns[0])
	}
	return usage(hint, "%s needs a target", cmd.CommandPath())
}

var errNoMarkers = errors.New("no markers")

// choose returns the markers that the patterns select.
func (s *selection) choose(all []*tracer.Marker) ([]*tracer.Marker, error) {
	if len(all) == 0 {
		err := fmt.Errorf("%s has %w", s.named(), errNoMarkers)
		file, again := "", ""
		switch {
		case s.target.Path != "":
			file = " " + s.target.Path
		case len(s.target.PIDs) > 0:
			again = ", and to be started again"
		}
		if f, problem := sdt.Open(s.target.Path); problem == nil && f.Machine != elf.EM_X86_64 {
			return nil, withHint(err, "waymark link knows x86-64 files only, and this one is for %s", strings.TrimPrefix(f.Machine.String(), "EM_"))
		}
		return nil, withHint(err, "a Go program that uses package marker needs waymark link%s%s", file, again)
	}
	return tracer.Select(all, s.patterns)
}
