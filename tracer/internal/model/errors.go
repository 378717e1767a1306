package model

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/filter"
)

var (
	// ErrNotSupported says that this platform or kernel cannot do what was asked.
	ErrNotSupported = errors.New("not supported")
	// ErrNoProc says that there is no /proc, without which nothing can be attached to.
	ErrNoProc = errors.New("/proc is not mounted")
	// ErrNoTypes says that the kernel lacks BTF, which only following processes needs.
	ErrNoTypes = errors.New("this kernel does not describe its types (BTF)")
	// ErrNoProcess says that there is no such process, or no longer.
	ErrNoProcess = errors.New("no such process")
	// ErrChanged says that a file or a process is not the one that Find saw.
	ErrChanged = errors.New("changed since its markers were read")
	// ErrCounterConflict says that somebody has the very site under another reference
	// counter, or two notes name one site with two counters: the kernel allows one.
	ErrCounterConflict = errors.New("site has another reference counter")
	// ErrRedZone reports that this kernel may overwrite variables of the program at the site.
	ErrRedZone = errors.New("a probe there may overwrite variables of the program")
	// ErrTyped says that the strings of markers are known without being asked for.
	ErrTyped = errors.New("the types of these markers are known, and their strings are read without being asked for")
	// ErrNoAgent says that a process has no agent that listens.
	ErrNoAgent = errors.New("no agent listens in it")
)

// AgentError says why an agent has refused what it was asked for. Nothing was changed then.
type AgentError struct {
	Hint string // what to do about it, "" for nothing
	Err  error
}

// NotByAgent returns the error of what only the kernel engine does.
func NotByAgent(what string) error {
	return &AgentError{
		Hint: "--engine kernel does it, where that is permitted: waymark doctor -p PID says whether it is",
		Err:  fmt.Errorf("%s: %w by agents", what, ErrNotSupported),
	}
}

func (e *AgentError) Error() string { return e.Err.Error() }

func (e *AgentError) Unwrap() error { return e.Err }

// SiteError says why a site was left out when its marker was attached to.
type SiteError struct {
	Marker *Marker
	Site   int // index in Marker.Sites
	Err    error
}

func (e *SiteError) Error() string {
	return fmt.Sprintf("%s in %s at %#x is left out: %v", e.Marker.FullName(), e.Marker.File.Path, uint64(e.Marker.Sites[e.Site].Address), e.Err)
}

func (e *SiteError) Unwrap() error { return e.Err }

// PermissionError says which privilege is missing and how to get it.
type PermissionError struct {
	Op         string // what was being done, "attaching to http:request_start in /srv/bin"
	Capability string // the capability that this process lacks, "" when none explains it
	Hint       string // what to do about it, one sentence
	Err        error  // what the kernel said, nil when it was not asked
}

func (e *PermissionError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteString(": permission denied")
	if e.Capability != "" {
		b.WriteString(": missing " + e.Capability)
	}
	return b.String()
}

func (e *PermissionError) Unwrap() error { return e.Err }

// NoMatchError says that a pattern names no marker of the target.
type NoMatchError struct {
	Pattern string
	// Available are names that do exist, the most similar first, at most 10 of them.
	Available []string
	// Total is how many there are.
	Total int
}

func (e *NoMatchError) Error() string {
	if e.Total == 0 {
		return fmt.Sprintf("no marker matches %q: there are no markers", e.Pattern)
	}
	s := fmt.Sprintf("no marker matches %q: there is %s", e.Pattern, strings.Join(e.Available, ", "))
	if more := e.Total - len(e.Available); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// NoFieldError says that none of the markers has a field of that name.
type NoFieldError struct {
	Name string
	// Available are the fields that they have, each once.
	Available []string
}

func (e *NoFieldError) Error() string {
	if len(e.Available) == 0 {
		return fmt.Sprintf("no field is named %q: the markers have none", e.Name)
	}
	return fmt.Sprintf("no field is named %q: there is %s", e.Name, strings.Join(e.Available, ", "))
}

func NoField(name string, markers []*Marker) error {
	e := &NoFieldError{Name: name}
	for _, m := range markers {
		for i := range m.Fields {
			if f := m.Fields[i].Name; !slices.Contains(e.Available, f) {
				e.Available = append(e.Available, f)
			}
		}
	}
	return e
}

// WhereError reports a mistake in a condition.
type WhereError struct {
	Column int // from 1, in characters; 0 when it is about no place
	Hint   string
	Err    error
}

func (e *WhereError) Error() string { return "condition, " + e.Err.Error() }

func (e *WhereError) Unwrap() error { return e.Err }

func ConditionError(err error) error {
	var e *filter.Error
	if !errors.As(err, &e) {
		return err
	}
	return &WhereError{Column: e.Column, Hint: e.Hint, Err: err}
}

// ErrPlatform is the error of everything where there is no engine.
var ErrPlatform = fmt.Errorf("tracing on %s: %w", runtime.GOOS, ErrNotSupported)

// Window is how long an event waits for earlier ones of other CPUs, so that events come in the order of time.
const Window = 10 * time.Millisecond

// DefaultMaxString is the number of bytes of a string or []byte that an event carries unless told
// otherwise.
const DefaultMaxString = 256
