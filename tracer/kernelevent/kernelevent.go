// Package kernelevent defines markers as events of the kernel's tracefs, by which perf and ftrace
// know them, and lists and deletes such events.
package kernelevent

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// ErrBusy reports that an event cannot be deleted because perf, ftrace or another program uses it.
var ErrBusy = errors.New("in use")

// ErrNotMounted reports that tracefs, which only kernel events and kernel tracepoints need, is not mounted.
var ErrNotMounted = tracefs.ErrNotMounted

// ErrPath reports that the path of a file cannot be part of an event's definition.
var ErrPath = tracefs.ErrPath

// Event is an event of the kernel's tracefs: what perf and ftrace know markers by. It
// belongs to nobody and stays until somebody deletes it or the machine restarts.
type Event struct {
	Group, Name string  // sdt_http and request_start
	Places      []Place // all that share the name, with arguments of the same names and types
	Hits        uint64  // since it was defined
	Enabled     bool    // in ftrace; perf's use of it is not known
	// Marker is what the file's notes call the first place, "" when they call it nothing.
	Marker string
	// Remarks are about arguments of a newly defined event: what tracefs cannot say.
	Remarks []Remark
	// Existed says of DefineKernelEvents's that it was there before.
	Existed bool
}

// Place is one place of a kernel event.
type Place struct {
	Path    string
	Offset  uint64   // of the probed instruction in the file
	Counter uint64   // offset of the reference counter in the file, 0 for none
	Return  bool     // at the return of the function there
	Args    []string // as tracefs has them, "path_len=+8(%ax):s64"
}

// Remark says what is wrong with an argument of a kernel event.
type Remark struct {
	Arg     string
	Left    bool // left out, not only shown in a way of its own
	Because error
}

// FullName returns the name that perf takes.
func (e *Event) FullName() string { return e.Group + ":" + e.Name }

// Plan returns what DefineKernelEvents would define, and defines nothing.
func Plan(markers []*model.Marker) ([]Event, error) { return planKernelEvents(markers) }

// Define defines markers as events of tracefs, sdt_PROVIDER:NAME as perf probe
// would, with every argument that tracefs can express. Sites whose arguments are alike are one event;
// others are NAME_1, NAME_2 and so on. What is there already is returned and not
// defined again. When one cannot be defined, none is.
func Define(markers []*model.Marker) ([]Event, error) { return defineKernelEvents(markers) }

// List returns everybody's user-space events of tracefs.
func List() ([]Event, error) { return listKernelEvents() }

// Delete deletes an event with all its places. It is an ErrBusy while perf, ftrace
// or anybody has it on, and no error when it is gone already.
func Delete(group, name string) error { return deleteKernelEvent(group, name) }
