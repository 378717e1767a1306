package kernelevent

import (
	"fmt"
	"path/filepath"

	"github.com/waymark-trace/waymark/internal/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// plannedEvent is an event that a marker is to have.
type plannedEvent struct {
	Event
	marker *model.Marker
}

func planKernelEvents(markers []*model.Marker) ([]Event, error) {
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
