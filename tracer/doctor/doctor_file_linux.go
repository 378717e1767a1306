package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

func checkFile(ctx context.Context, path string) ([]Check, []int) {
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
