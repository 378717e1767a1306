package session

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer"
)

// Subject is the target of a command line: one of PIDs, Path and Command, or none. Of a command that was
// started it is the process PID.
type Subject struct {
	PIDs    []int
	Path    string
	Command []string
	Follow  bool
	Engine  tracer.Engine
	PID     int
}

// Target returns the processes or the file for package tracer, traced by the kernel engine unless Engine
// is set.
func (s Subject) Target() tracer.Target {
	t := tracer.PIDs(s.PIDs...)
	switch {
	case s.PID != 0:
		t = tracer.PIDs(s.PID)
	case s.Path != "":
		t = tracer.Path(s.Path)
	}
	if s.Follow {
		t = t.Follow()
	}
	return t.By(cmp.Or(s.Engine, tracer.EngineKernel))
}

// Find returns the markers of the subject.
func (s Subject) Find(ctx context.Context) ([]*tracer.Marker, error) {
	return tracer.Find(ctx, s.Target())
}

// Selection is what a command line says about where to look and for what.
type Selection struct {
	Subject  Subject
	Patterns []string
	Engine   Engine
	Where    string // of --where; it chooses the markers that have its fields, save those that patterns name
	// Kernel is what the patterns choose of the kernel's tracepoints; nil but of a recording, which can have them.
	Kernel *[]string
}

// Named says what the target is, in a message.
func (s *Selection) Named() string {
	switch {
	case len(s.Subject.PIDs) > 0:
		return pidsText(s.Subject.PIDs)
	case len(s.Subject.Command) > 0:
		return s.Subject.Command[0]
	case s.Subject.Path != "":
		return s.Subject.Path
	}
	return "any running process"
}

func pidsText(pids []int) string {
	if len(pids) == 1 {
		return fmt.Sprintf("process %d", pids[0])
	}
	return "processes " + pidList(pids)
}

// Parse sorts the arguments of a command: -p PID or the first of them or what
// follows "--" is the target, the others are patterns. The target may be missing.
func Parse(cmd *cobra.Command, pids []int, args []string) (*Selection, error) {
	var s Selection
	if cmd.Flags().Changed("pid") {
		for _, pid := range pids {
			if err := CheckPID(cmd, pid); err != nil {
				return nil, err
			}
		}
		if len(pids) == 0 {
			return nil, term.Usage("such as -p 12 or -p 12,34", "-p names no process")
		}
		s.Subject.PIDs = pids
	}
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		if s.Subject.Command, args = args[n:], args[:n]; len(s.Subject.Command) == 0 {
			return nil, term.Usage("write the command and its arguments after --", "-- is followed by no command")
		}
		if len(pids) > 0 {
			return nil, twoTargets("-p "+pidList(pids), "-- "+s.Subject.Command[0])
		}
	}
	if len(s.Subject.PIDs) == 0 && len(s.Subject.Command) == 0 && len(args) > 0 && !IsPattern(args[0]) {
		s.Subject.Path, args = args[0], args[1:]
	}
	for _, arg := range args {
		if strings.Contains(arg, "/") && !strings.Contains(arg, ":") {
			return nil, twoTargets(s.Named(), arg)
		}
	}
	s.Patterns = args
	return &s, nil
}

// CheckPID refuses a number of -p that no process has.
func CheckPID(cmd *cobra.Command, pid int) error {
	if cmd.Flags().Changed("pid") && pid <= 0 {
		return term.Usage("a PID is a positive number", "-p %d is not a process", pid)
	}
	return nil
}

// Follow is --follow.
func (s *Selection) Follow() error {
	if s.Subject.Path != "" {
		return term.Usage("FILE is every process that maps it, children too", "--follow is for -p PID and -- COMMAND")
	}
	s.Subject.Follow = true
	return nil
}

// OnlyPID returns the process when it is one, else 0.
func (s *Selection) OnlyPID() int {
	if len(s.Subject.PIDs) == 1 {
		return s.Subject.PIDs[0]
	}
	return 0
}

func twoTargets(a, b string) error {
	return term.Usage("give one of -p PID, FILE and -- COMMAND", "%s and %s are two targets", a, b)
}

// pidList is how -p takes several.
func pidList(pids []int) string {
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return strings.Join(words, ",")
}

// IsPattern reports whether an argument names markers rather than a file.
func IsPattern(arg string) bool {
	return !strings.Contains(arg, "/") && strings.ContainsAny(arg, ":*?[")
}

// Required returns a usage error when nothing says where to look.
func (s *Selection) Required(cmd *cobra.Command) error {
	if len(s.Subject.PIDs) > 0 || s.Subject.Path != "" || len(s.Subject.Command) > 0 {
		return nil
	}
	hint := "give -p PID, FILE or -- COMMAND; waymark list shows what is running"
	if len(s.Patterns) > 0 {
		return term.Usage(hint, "%s is a pattern, and nothing says where to look for it", s.Patterns[0])
	}
	return term.Usage(hint, "%s needs a target", cmd.CommandPath())
}

// Engine is the value of --engine: the engine that traces.
type Engine string

// The engines.
const (
	EngineAuto   Engine = "auto" // so is ""
	EngineKernel Engine = "kernel"
	EngineAgent  Engine = "agent"
)

// EngineUsage is the help of --engine.
const EngineUsage = "`NAME`: kernel (needs privilege), agent (none), or auto"

// Type implements pflag.Value, as String and Set do.
func (f *Engine) Type() string { return "ENGINE" }

// String returns the name of the engine.
func (f *Engine) String() string { return string(cmp.Or(*f, EngineAuto)) }

// Set parses the name of an engine.
func (f *Engine) Set(text string) error {
	switch e := Engine(text); e {
	case EngineAuto, EngineKernel, EngineAgent:
		*f = e
		return nil
	}
	return errors.New("there is kernel, agent and auto: the kernel where that is permitted, else the program's agent")
}

// of returns the engine as package tracer names it.
func (f Engine) of() tracer.Engine {
	switch f {
	case EngineKernel:
		return tracer.EngineKernel
	case EngineAgent:
		return tracer.EngineAgent
	}
	return tracer.EngineAuto
}

var errNoMarkers = errors.New("no markers")

// SelectMarkers returns the markers that the patterns select.
func (s *Selection) SelectMarkers(all []*tracer.Marker) ([]*tracer.Marker, error) {
	if len(all) == 0 {
		err := fmt.Errorf("%s has %w", s.Named(), errNoMarkers)
		file, again := "", ""
		switch {
		case s.Subject.Path != "":
			file = " " + s.Subject.Path
		case len(s.Subject.PIDs) > 0:
			again = ", and to be started again"
		}
		if f, problem := sdt.Open(s.Subject.Path); problem == nil && f.Machine != elf.EM_X86_64 {
			return nil, term.WithHint(err, "waymark link knows x86-64 files only, and this one is for %s", strings.TrimPrefix(f.Machine.String(), "EM_"))
		}
		if !s.isGo() {
			return nil, err
		}
		return nil, term.WithHint(err, "a Go program that uses package marker needs waymark link%s%s", file, again)
	}
	return tracer.Select(all, s.Patterns)
}

// isGo reports whether a file, a command or one of the processes is a Go program, as far as that can be read.
func (s *Selection) isGo() bool {
	var paths []string
	switch {
	case s.Subject.Path != "":
		paths = []string{s.Subject.Path}
	case len(s.Subject.Command) > 0:
		path, err := exec.LookPath(s.Subject.Command[0])
		if err != nil {
			return false
		}
		paths = []string{path}
	}
	for _, pid := range s.Subject.PIDs {
		paths = append(paths, executable(pid))
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := buildinfo.ReadFile(path)
		return err == nil
	})
}

// MatchSimple reports whether the patterns select a name: one without a colon matches the
// last component, as it matches the name of other markers.
func (s *Selection) MatchSimple(name string) bool {
	for _, pattern := range s.Patterns {
		whole := name
		if !strings.Contains(pattern, ":") {
			whole = name[strings.LastIndexByte(name, ':')+1:]
		}
		if ok, _ := path.Match(pattern, whole); ok {
			return true
		}
	}
	return len(s.Patterns) == 0
}
