package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// held are the uprobes that programs on this machine hold.
type held struct {
	all   []bpf.Held
	inode map[string]unix.Stat_t // of paths, zero when there is no such file here
}

// findHeld lists what links, perf events and tracefs hold. A defined event holds a probe while it is on, or while perf may have it open.
func findHeld() (*held, error) {
	all, bare, err := bpf.HeldUprobes()
	if err != nil {
		return nil, model.Permission("finding out who traces", procfs.SysAdmin, err)
	}
	if fs, err := tracefs.Find(); err == nil {
		events, err := fs.Events()
		if err != nil {
			return nil, fmt.Errorf("finding out who traces: %w", err)
		}
		for i := range events {
			if e := &events[i]; bare || fs.Enabled(e.Group, e.Name) {
				all = append(all, bpf.Held{Path: e.Path, Offset: e.Offset})
			}
		}
	}
	return &held{all, map[string]unix.Stat_t{}}, nil
}

// has reports whether any of the sites of a file is held for a process. If the holder's path leads nowhere here, because it is of
// another mount namespace or the file was replaced, the file's name decides.
func (h *held) has(f *os.File, path string, sites []uint64, pid int) bool {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return true
	}
	for i := range h.all {
		p := &h.all[i]
		if !slices.Contains(sites, p.Offset) || p.PID != 0 && p.PID != pid {
			continue
		}
		other, known := h.inode[p.Path]
		if !known {
			_ = unix.Stat(p.Path, &other)
			h.inode[p.Path] = other
		}
		if other.Ino == st.Ino && other.Dev == st.Dev || other.Ino == 0 && filepath.Base(p.Path) == filepath.Base(path) {
			return true
		}
	}
	return false
}

// removeLeaked removes the probes that counters have in common with leaked uprobes, all of one file at once.
func removeLeaked(counters []*Counter) error {
	f, err := model.Reopen(counters[0].file)
	if err != nil {
		return err
	}
	defer f.Close()
	var sites []prog.Site
	for _, c := range counters {
		for _, offset := range c.sites {
			s := prog.Site{Offset: offset, Counter: c.offset}
			if !slices.ContainsFunc(sites, func(o prog.Site) bool { return o.Offset == s.Offset }) {
				sites = append(sites, s)
			}
		}
	}
	return bpf.RemoveLeaked(f, sites, counters[0].PID)
}
