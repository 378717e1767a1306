// Package doctor finds out why tracing does not work here, or in a process or file, and repairs what
// tracers that were killed have left behind.
package doctor

import (
	"errors"
	"io/fs"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Check is one thing that tracing depends on, and how it is here.
type Check struct {
	Name   string // of what was looked at: "capabilities", "uprobe_multi", …
	Status Status
	Reason string
	Hint   string // what to do about it, "" for nothing
}

// Status is how bad it is.
type Status uint8

const (
	OK   Status = iota
	Warn        // markers can be counted and traced; something else cannot, or could not be told
	Fail        // Count or Trace will not work
)

func (s Status) String() string { return [...]string{"ok", "warn", "fail"}[s] }

// checks are those that were made so far.
type checks []Check

func (c *checks) ok(name, reason string) { *c = append(*c, Check{Name: name, Reason: reason}) }

func (c *checks) warn(name, reason, hint string) {
	*c = append(*c, Check{name, Warn, reason, hint})
}

func (c *checks) fail(name, reason, hint string) {
	*c = append(*c, Check{name, Fail, reason, hint})
}

// err notes an error, with the hint that it has.
func (c *checks) err(name string, s Status, err error) {
	one := Check{Name: name, Status: s, Reason: err.Error()}
	var p *model.PermissionError
	switch {
	case errors.As(err, &p):
		one.Hint = p.Hint
	case errors.Is(err, model.ErrNoProcess):
		one.Hint = "waymark list shows the running processes that have markers"
	case errors.Is(err, fs.ErrNotExist):
		one.Hint = "give the path of an executable or a library"
	}
	*c = append(*c, one)
}

// Counter is what one reference counter is in a process, in one mapping of its file.
type Counter struct {
	PID     int
	Comm    string   // name of the process
	Path    string   // of the file
	Markers []string // that it guards
	Address uint64   // in the process
	Value   uint16
	Initial uint16 // in the file: the value while nobody traces
	// Sites are how many probed instructions it goes with, and Attached how many of them
	// somebody has changed: a tracer is there.
	Sites, Attached int
	// Debugger is who traces the process by ptrace, 0 for nobody.
	Debugger int
	// Leaked means that it was raised for at least a tenth of a second without a tracer: the
	// tracer died before the counter was lowered. The marker then costs as much as while traced. If Attached is
	// not zero, the kernel leaked the uprobe too: no link, perf event or event of tracefs holds it.
	Leaked bool
	// Unsure is the reason why it is not known whether a program holds the probe, nil when it is.
	Unsure error

	start  uint64 // of the process
	offset uint64 // in the file
	sites  []uint64
	file   *model.File
}
