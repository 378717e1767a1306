// Package kernelevent defines markers as events of the kernel's tracefs, by which perf and ftrace
// know them, and lists and deletes such events.
package kernelevent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// ErrBusy reports that an event cannot be deleted because perf, ftrace or another program uses it.
var ErrBusy = errors.New("in use")

// ErrNotMounted reports that tracefs, which only kernel events and kernel tracepoints need, is not mounted.
var ErrNotMounted = tracefs.ErrNotMounted

// ErrNoTracepoint reports that the kernel has no tracepoint of that name.
var ErrNoTracepoint = tracefs.ErrNoTracepoint

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
	// Existed reports, for an event returned by Define, that it was there before.
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

var (
	errBits = errors.New("tracefs has no floating-point numbers: it is the bits, in hexadecimal")
	errText = errors.New("tracefs reads text up to a zero byte, which Go's has none of: it is its address and its length")
	errMany = fmt.Errorf("an event of tracefs has at most %d arguments", tracefs.MaxArgs)
)

// eventArgs are the arguments of an event at one place.
type eventArgs struct {
	names   tracefs.ArgNames
	fetch   []string
	remarks []Remark
}

// add adds what fetches an argument, or says why nothing does.
func (a *eventArgs) add(name, fetch string, err error) {
	name = a.names.Unique(name)
	if err == nil && len(a.fetch) == tracefs.MaxArgs {
		err = errMany
	}
	if err != nil {
		a.remarks = append(a.remarks, Remark{name, true, err})
		return
	}
	a.fetch = append(a.fetch, name+"="+fetch)
}

func (a *eventArgs) remark(name string, because error) {
	a.remarks = append(a.remarks, Remark{name, false, because})
}

// argsAt returns the arguments of a site.
func argsAt(m *model.Marker, site int, shift int64) *eventArgs {
	a := &eventArgs{names: tracefs.ArgNames{}}
	if site < len(model.Records(m)) && model.Records(m)[site] != nil && model.Records(m)[site].Typed {
		for i := range model.Records(m)[site].Fields {
			a.addField(&model.Records(m)[site].Fields[i])
		}
		return a
	}
	ops := m.Sites[site].Operands
	for i := range ops {
		name := fmt.Sprintf("arg%d", i+1) // perf's names
		fetch, err := tracefs.Fetch(model.Machine(m.File), &ops[i], shift)
		a.add(name, fetch, err)
		if err == nil && ops[i].Float {
			a.remark(name, errBits)
		}
	}
	return a
}

// addField adds a field of the record that RAX points to. The note has only the first twelve
// operands, and no names.
func (a *eventArgs) addField(f *event.Field) {
	at := func(offset int, typ string) string { return fmt.Sprintf("+%d(%%ax)%s", offset, typ) }
	if f.Kind.HasLength() {
		a.add(f.Name, at(f.Offset, ":x64"), nil)
		a.add(f.Name+"_len", at(f.Offset+8, tracefs.Type(8, true, false)), nil)
		a.remark(f.Name, errText)
		return
	}
	a.add(f.Name, at(f.Offset, tracefs.Type(f.Kind.Size(), f.Kind.Signed(), f.Kind.IsFloat())), nil)
	if f.Kind.IsFloat() {
		a.remark(f.Name, errBits)
	}
}

// signature is equal for places that can be one event: trace_probe_compare_arg_type,
// kernel/trace/trace_probe.c, compares names and types, not where an argument lies.
func signatureOf(args []string) string {
	var b strings.Builder
	for _, arg := range args {
		name, fetch, _ := strings.Cut(arg, "=")
		b.WriteString(name + fetch[strings.LastIndexByte(fetch, ':'):] + " ")
	}
	return b.String()
}
