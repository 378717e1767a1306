package kernelevent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// plannedEvent is an event that a marker is to have.
type plannedEvent struct {
	Event
	marker *model.Marker
}

// Plan returns the events that Define would define, and defines nothing.
func Plan(markers []*model.Marker) ([]Event, error) {
	planned, err := planEvents(markers)
	if err != nil {
		return nil, err
	}
	all := make([]Event, len(planned))
	taken := map[string]bool{}
	for i, p := range planned {
		all[i] = p.Event
		all[i].Group, all[i].Name = freeName(p.marker, taken)
	}
	return all, nil
}

// planEvents plans events that are not yet named.
func planEvents(markers []*model.Marker) ([]plannedEvent, error) {
	var all []plannedEvent
	for _, m := range markers {
		planned, err := planMarker(m)
		if err != nil {
			return nil, fmt.Errorf("defining %s in %s: %w", m.FullName(), m.File.Path, err)
		}
		all = append(all, planned...)
	}
	return all, nil
}

// freeName takes the first name of a marker's events that nobody has.
func freeName(m *model.Marker, taken map[string]bool) (group, name string) {
	for n := 0; ; n++ {
		group, name = tracefs.EventNames(m.Provider, m.Name, n)
		if full := group + ":" + name; !taken[full] {
			taken[full] = true
			return group, name
		}
	}
}

// planMarker puts places with arguments of the same names and types together.
func planMarker(m *model.Marker) ([]plannedEvent, error) {
	opened, err := model.Reopen(m.File)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	path, err := definablePath(m.File)
	if err != nil {
		return nil, err
	}
	var all []plannedEvent
	index := map[string]int{}
	for i := range m.Sites {
		s := &m.Sites[i]
		shift := model.StubShift(m, i, opened)
		args := argsAt(m, i, int64(shift))
		key := signatureOf(args.fetch)
		e, ok := index[key]
		if !ok {
			e = len(all)
			index[key] = e
			all = append(all, plannedEvent{Event{Marker: m.FullName(), Remarks: args.remarks}, m})
		}
		all[e].Places = append(all[e].Places, Place{
			Path: path, Offset: uint64(s.Offset) + shift, Counter: uint64(s.CounterOffset), Args: args.fetch})
	}
	return all, nil
}

// definablePath returns a path that is this very file now and that a definition can hold. The
// kernel keeps the file, not the path: one that leads through a process may end with it.
func definablePath(f *model.File) (string, error) {
	absolute, err := filepath.Abs(f.Path)
	if err != nil {
		return "", err
	}
	var refused error
	for _, path := range append([]string{absolute}, model.Paths(f)...) {
		opened, id, err := model.OpenFile(path)
		if err != nil {
			continue
		}
		opened.Close()
		if id != model.ID(f) {
			continue
		}
		if err := tracefs.CheckPath(path); err != nil {
			if refused == nil {
				refused = err
			}
			continue
		}
		return path, nil
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("%s %w", f.Path, model.ErrChanged)
}

// Define defines markers as events of tracefs, sdt_PROVIDER:NAME as perf probe
// would, with every argument that tracefs can express. Sites whose arguments are alike are one event;
// others are NAME_1, NAME_2 and so on. What is there already is returned and not
// defined again. When one cannot be defined, none is.
func Define(markers []*model.Marker) ([]Event, error) {
	planned, err := planEvents(markers)
	if err != nil {
		return nil, err
	}
	fs, err := tracefs.Find()
	if err != nil {
		return nil, tracefsError("defining events", err)
	}
	lines, err := fs.Events()
	if err != nil {
		return nil, tracefsError("reading uprobe events", err)
	}
	existing := joinEvents(lines)
	d := &definer{fs: fs, taken: map[string]bool{}}
	for i := range existing {
		d.taken[existing[i].FullName()] = true
	}
	for _, p := range planned {
		if i := slices.IndexFunc(existing, p.same); i >= 0 {
			p.Group, p.Name, p.Existed = existing[i].Group, existing[i].Name, true
			d.done = append(d.done, p.Event)
			continue
		}
		if err := d.define(p); err != nil {
			if errors.Is(err, unix.EINVAL) && slices.ContainsFunc(existing, p.conflicts) {
				err = fmt.Errorf("%w: an event that exists has another: %w", model.ErrCounterConflict, err)
			}
			op := fmt.Sprintf("defining %s in %s", p.Marker, p.marker.File.Path)
			return nil, errors.Join(tracefsError(op, err), d.undo())
		}
	}
	return d.done, nil
}

// same reports whether an event that exists has these places, with these arguments.
func (p *plannedEvent) same(e Event) bool {
	group, _ := tracefs.EventNames(p.marker.Provider, "", 0)
	return e.Group == group && slices.EqualFunc(e.Places, p.Places, func(a, b Place) bool {
		return a.Path == b.Path && a.Offset == b.Offset && a.Counter == b.Counter && a.Return == b.Return && slices.Equal(a.Args, b.Args)
	})
}

// conflicts reports whether an event has one of these places under another reference counter,
// which the kernel refuses (register_trace_uprobe) without saying so anywhere but in its log.
func (p *plannedEvent) conflicts(e Event) bool {
	return slices.ContainsFunc(e.Places, func(a Place) bool {
		return slices.ContainsFunc(p.Places, func(b Place) bool {
			return a.Path == b.Path && a.Offset == b.Offset && a.Counter != b.Counter
		})
	})
}

// definer defines events until one is refused.
type definer struct {
	fs    *tracefs.FS
	taken map[string]bool // names
	done  []Event
}

// maxNames is MAX_EVENT_INDEX of perf's tools/perf/util/probe-event.c.
const maxNames = 1024

// define defines an event. Where the kernel takes one place for an event only (before Linux
// 5.4, ca89bc071d5e "tracing/kprobe: Add multi-probe per event support" and its sibling for
// uprobes) the others become events of their own.
func (d *definer) define(p plannedEvent) error {
	opened, err := model.Reopen(p.marker.File)
	if err != nil {
		return err
	}
	defer opened.Close()
	rest := p.Places
	for tries := 0; len(rest) > 0; tries++ {
		if tries == maxNames {
			return fmt.Errorf("%d names are taken: %w", maxNames, unix.EEXIST)
		}
		e := p.Event
		e.Group, e.Name = freeName(p.marker, d.taken)
		n := 0
		for ; n < len(rest); n++ {
			place := &rest[n]
			err := d.place(e, place, place.Path)
			if errors.Is(err, unix.EEXIST) {
				break // another place, or somebody who was faster
			}
			if err == nil {
				err = d.verify(e, place, opened)
			}
			if err != nil {
				return errors.Join(err, d.withdraw(e))
			}
		}
		if n > 0 {
			e.Places = rest[:n]
			d.done = append(d.done, e)
		}
		rest = rest[n:]
	}
	return nil
}

// place adds a place to an event, by a path of its file.
func (d *definer) place(e Event, p *Place, path string) error {
	return d.fs.Define(&tracefs.Event{Group: e.Group, Name: e.Name, Path: path, Offset: p.Offset, Counter: p.Counter, Args: p.Args})
}

// verify reports whether a defined place is in the file that Find read, and not in one that took its path in between.
// The kernel compares inodes when a place is added to an event, and refuses one that the event has; so the same place
// by a descriptor of the file must be refused. Kernels that take one place for an event (before Linux 5.4) refuse any.
func (d *definer) verify(e Event, p *Place, file *os.File) error {
	err := d.place(e, p, fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	switch {
	case err == nil:
		return fmt.Errorf("%s %w", p.Path, model.ErrChanged)
	case errors.Is(err, unix.EEXIST):
		return nil
	}
	return err
}

// withdraw deletes an event if it is there.
func (d *definer) withdraw(e Event) error {
	err := d.fs.Delete(e.Group, e.Name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// undo deletes what was defined, so that what could not be defined whole is not there by half.
func (d *definer) undo() (err error) {
	for i := range d.done {
		if e := &d.done[i]; !e.Existed {
			err = errors.Join(err, d.fs.Delete(e.Group, e.Name))
		}
	}
	return err
}

// tracefsError explains what tracefs said.
func tracefsError(op string, err error) error {
	switch {
	case errors.Is(err, tracefs.ErrNotMounted):
		return fmt.Errorf("%s: %w: %w", op, model.ErrNotSupported, err)
	case errors.Is(err, os.ErrPermission):
		hint := "tracefs is root's: run it as root"
		if have, e := procfs.Effective(); e == nil && have.Has(procfs.SysAdmin) {
			hint = "a security module or kernel lockdown refuses: waymark doctor says more"
		}
		return &model.PermissionError{Op: op, Hint: hint, Err: err}
	}
	return fmt.Errorf("%s: %w", op, err)
}
