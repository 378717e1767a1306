package kernelevent

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// joinEvents makes one event of the places that have one name.
func joinEvents(lines []tracefs.Event) []Event {
	var all []Event
	index := map[string]int{}
	for i := range lines {
		l := &lines[i]
		at, ok := index[l.FullName()]
		if !ok {
			at = len(all)
			index[l.FullName()] = at
			all = append(all, Event{Group: l.Group, Name: l.Name})
		}
		e := &all[at]
		e.Places = append(e.Places, Place{l.Path, l.Offset, l.Counter, l.Return, l.Args})
		e.Hits += l.Hits
	}
	return all
}

// List returns everybody's user-space events of tracefs.
func List() ([]Event, error) {
	fs, err := tracefs.Find()
	if err != nil {
		return nil, tracefsError("reading uprobe events", err)
	}
	lines, err := fs.Events()
	if err != nil {
		return nil, tracefsError("reading uprobe events", err)
	}
	all := joinEvents(lines)
	names := map[string]map[uint64]string{}
	for i := range all {
		e := &all[i]
		e.Enabled = fs.Enabled(e.Group, e.Name)
		path := e.Places[0].Path
		if names[path] == nil {
			names[path] = markersAt(path)
		}
		e.Marker = names[path][e.Places[0].Offset]
	}
	return all, nil
}

// markersAt returns the names of a file's markers by the offset at which they are probed.
func markersAt(path string) map[uint64]string {
	names := map[uint64]string{}
	markers, _ := model.FindPath(path, true) // somebody's events of whatever file
	for _, m := range markers {
		opened, err := model.Reopen(m.File)
		if err != nil {
			continue
		}
		for i := range m.Sites {
			names[uint64(m.Sites[i].Offset)+model.StubShift(m, i, opened)] = m.FullName()
		}
		opened.Close()
	}
	return names
}

// Delete deletes an event with all its places. It is an ErrBusy while perf, ftrace
// or anybody has it on, and no error when it is gone already.
func Delete(group, name string) error {
	fs, err := tracefs.Find()
	if err == nil {
		err = fs.Delete(group, name)
	}
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.EBUSY):
		by := "perf or another program has it open"
		if fs.Enabled(group, name) {
			by = "ftrace has it enabled"
		}
		return fmt.Errorf("deleting %s:%s: %w: %s", group, name, ErrBusy, by)
	}
	return tracefsError("deleting "+group+":"+name, err)
}
