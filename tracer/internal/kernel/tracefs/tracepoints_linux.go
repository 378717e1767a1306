package tracefs

import (
	"fmt"
	"path"
	"strings"
)

// Tracepoints returns those that a pattern selects, such as sched:sched_switch or sched:*.
func (f *FS) Tracepoints(pattern string) ([]*Record, error) {
	group, name, ok := strings.Cut(pattern, ":")
	if !ok {
		return nil, fmt.Errorf("kernel tracepoint %q: it is GROUP:NAME, such as sched:sched_switch", pattern)
	}
	groups, err := f.list("events", group)
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, g := range groups {
		names, err := f.list("events/"+g, name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if len(all) == maxTracepoints {
				return nil, fmt.Errorf("%s selects more than %d kernel tracepoints", pattern, maxTracepoints)
			}
			data, err := f.read(path.Join("events", g, n, "format"))
			if err != nil {
				return nil, err
			}
			r, err := parseRecord(data)
			if err != nil {
				return nil, fmt.Errorf("kernel tracepoint %s:%s: %w", g, n, err)
			}
			r.Group, r.Name = g, n
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w %s", ErrNoTracepoint, pattern)
	}
	return all, nil
}

// list returns the directories in one whose names a pattern matches.
func (f *FS) list(dir, pattern string) ([]string, error) {
	entries, err := f.entries(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		ok, err := path.Match(pattern, e.Name())
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if ok && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
