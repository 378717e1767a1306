package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// CheckPID returns what can be done with a process, and its markers, which are those of Find.
func CheckPID(ctx context.Context, pid int) ([]Check, []*model.Marker) {
	var c checks
	if err := model.CheckProcess(pid, nil); err != nil {
		c.err("process", Fail, err)
		return c, nil
	}
	comm, _ := procfs.Comm(pid)
	c.ok("process", fmt.Sprintf("%d (%s), %s", pid, comm, owner(pid)))
	maps, err := procfs.Maps(pid)
	if err != nil {
		c.err("mappings", Fail, model.ProcessError("reading the mappings of", pid, procfs.SysPtrace, err))
		return c, nil
	}
	c.mappings(pid, maps)
	c.namespaces(pid)
	if by, err := procfs.TracerPID(pid); err == nil && by != 0 {
		c.warn("debugger", fmt.Sprintf("process %d has it", by), "a process that the debugger has stopped hits nothing")
	}
	markers, err := model.FindPIDs(ctx, []int{pid}, false)
	c.markers(fmt.Sprintf("process %d", pid), markers, err)
	return c, markers
}

// owner says whose process it is, which decides what may be read of it.
func owner(pid int) string {
	uid, err := procfs.Status(pid, "Uid") // real, effective, saved, of the file system
	if err != nil {
		return "of whom could not be told"
	}
	f := strings.Fields(uid[0])
	if len(f) > 1 && f[1] == fmt.Sprint(os.Geteuid()) {
		return "of this user"
	}
	return "of user " + strings.Join(f[:min(len(f), 1)], "")
}

// mappings opens what the process maps as Find does.
func (c *checks) mappings(pid int, maps []procfs.Mapping) {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	exe = strings.TrimSuffix(exe, " (deleted)")
	var deleted []string
	seen := map[procfs.File]bool{}
	bad := false
	for i := range maps {
		m := &maps[i]
		if !m.Executable || m.Inode == 0 || !strings.HasPrefix(m.Path, "/") || seen[m.File()] {
			continue
		}
		seen[m.File()] = true
		if m.Deleted {
			deleted = append(deleted, m.Path)
		}
		f, _, err := model.OpenMapped(pid, m, m.Path == exe)
		if err != nil {
			// The others can be traced all the same.
			c.err("mappings", Warn, fmt.Errorf("%s: %w", m.Path, err))
			bad = true
			continue
		}
		f.Close()
	}
	if !bad {
		c.ok("mappings", fmt.Sprintf("executable files: %d, all readable", len(seen)))
	}
	if len(deleted) > 0 {
		c.warn("deleted", strings.Join(deleted, ", ")+": what has the name now, if anything does, is another file",
			"trace with -p PID: FILE would be the other one")
	}
}

func (c *checks) namespaces(pid int) {
	var others []string
	for _, ns := range []string{"mnt", "pid", "user"} {
		own, err := os.Readlink("/proc/self/ns/" + ns)
		its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns))
		if err := errors.Join(err, err2); err != nil {
			c.err("namespaces", Warn, model.ProcessError("reading the namespaces of", pid, procfs.SysPtrace, err))
			return
		}
		if own != its {
			others = append(others, ns)
		}
	}
	if len(others) == 0 {
		c.ok("namespaces", "those of waymark")
		return
	}
	there := ""
	if own, err := procfs.OwnPID(pid); err == nil && own != 0 {
		there = fmt.Sprintf(", where it is process %d", own)
	}
	c.ok("namespaces", "its own "+strings.Join(others, ", ")+there+": trace with -p PID, by the number it has here")
}

// markers says for each file what Count and Trace would refuse.
func (c *checks) markers(where string, markers []*model.Marker, err error) {
	const link = "a Go program that uses package marker needs waymark link, and to be started again"
	switch {
	case err != nil && len(markers) == 0:
		c.err("markers", Fail, err)
		return
	case len(markers) == 0:
		c.fail("markers", where+" has none", link)
		return
	}
	for len(markers) > 0 {
		f := markers[0].File
		end := slices.IndexFunc(markers, func(m *model.Marker) bool { return m.File != f })
		if end < 0 {
			end = len(markers)
		}
		c.file(f, markers[:end])
		markers = markers[end:]
	}
}

func (c *checks) file(f *model.File, markers []*model.Marker) {
	kind := ""
	if f.Go != "" {
		kind = ", a linked Go program (" + f.Go + ")"
	}
	counted := 0
	for _, m := range markers {
		if m.Counted {
			counted++
		}
	}
	what := fmt.Sprintf("%d in %s%s, %d with a reference counter", len(markers), f.Path, kind, counted)
	opened, err := model.Reopen(f)
	if err != nil {
		c.err("markers", Fail, err)
		return
	}
	defer opened.Close()
	zone := model.NewRedZone(opened)
	defer zone.Close()
	refused := 0
	var why error
	for _, m := range markers {
		for s := range m.Sites {
			if err := zone.Check(m, s); err != nil {
				refused, why = refused+1, fmt.Errorf("%s: %w", m.FullName(), err)
				break
			}
		}
	}
	switch {
	case refused == len(markers):
		c.err("markers", Fail, fmt.Errorf("%s: %w", what, why))
	case refused > 0:
		c.warn("markers", fmt.Sprintf("%s; %d of them cannot be probed, such as: %v", what, refused, why), "stat, trace and latency leave them out, and say so")
	case len(f.Problems) > 0:
		c.warn("markers", what+"; "+f.Problems[0].Error(), "waymark list -v shows all problems")
	default:
		c.ok("markers", what)
	}
}

// CheckFile returns what can be done with a file, and the processes that map it.
func CheckFile(ctx context.Context, path string) ([]Check, []int) {
	var c checks
	f, id, err := model.OpenFile(path)
	if err != nil {
		c.err("file", Fail, err)
		return c, nil
	}
	defer f.Close()
	markers, err := model.FindPath(path, false)
	c.markers(path, markers, err)
	pids, unseen, err := mappers(ctx, id)
	what := fmt.Sprintf("%d map it now", len(pids))
	var refused *model.PermissionError
	switch {
	case errors.As(err, &refused):
		c.warn("processes", fmt.Sprintf("%s, and %d could not be looked at", what, unseen), refused.Hint)
	case err != nil:
		c.err("processes", Warn, err)
	default:
		c.ok("processes", what)
	}
	return c, pids
}

// mappers returns the processes that map a file executable, how many others could not be looked at,
// and why not.
func mappers(ctx context.Context, id model.Identity) (pids []int, unseen int, why error) {
	all, err := procfs.PIDs()
	if err != nil {
		return nil, 0, fmt.Errorf("listing processes: %w", err)
	}
	slices.Sort(all)
	for _, pid := range all {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		maps, err := procfs.Maps(pid)
		switch {
		case errors.Is(err, os.ErrPermission):
			unseen++
			why = model.ProcessError("reading the mappings of", pid, procfs.SysPtrace, err)
		case err == nil && pid != os.Getpid() && slices.ContainsFunc(maps, func(m procfs.Mapping) bool { return sameFile(pid, &m, id) }):
			pids = append(pids, pid)
		}
	}
	return pids, unseen, why
}

// sameFile reports whether a mapping is of a file. The device in maps is another than stat's on
// overlayfs and btrfs, so the mapped file is opened.
func sameFile(pid int, m *procfs.Mapping, id model.Identity) bool {
	if !m.Executable || m.Inode != id.Inode {
		return false
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	f, its, err := model.OpenMapped(pid, m, m.Path == exe)
	if err != nil {
		return false
	}
	f.Close()
	return its == id
}
