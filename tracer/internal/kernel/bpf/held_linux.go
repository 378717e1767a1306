package bpf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cilium/ebpf/link"
	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// Held is a uprobe that a program holds.
type Held struct {
	Path   string // as the holder's mount namespace has it, or had it
	Offset uint64 // of the instruction in the file
	PID    int    // of the only process that is traced, 0 for all
}

// HeldUprobes returns the uprobes that links and perf events hold, with programs. Bare reports whether a process has a perf event
// without a program, whose kind the kernel does not tell: perf opens events of tracefs so.
func HeldUprobes() (held []Held, bare bool, err error) {
	if held, err = linkedUprobes(); err != nil {
		return nil, false, fmt.Errorf("listing the probes that links hold: %w", err)
	}
	pids, err := procfs.PIDs()
	if err != nil {
		return nil, false, err
	}
	for _, pid := range pids {
		h, b := perfUprobes(pid)
		held, bare = append(held, h...), bare || b
	}
	return held, bare, nil
}

// linkedUprobes returns those of the links of the whole system. Kernels before 6.6 do not
// report the place of a perf event's link: perfUprobes finds the event itself. Those before 6.8 do not report the places of a
// uprobe_multi link.
func linkedUprobes() (held []Held, err error) {
	var it link.Iterator
	defer it.Close()
	for it.Next() {
		info, err := it.Link.Info()
		if err != nil {
			continue // it ended, or is of a kind that is none of uprobes
		}
		if m := info.UprobeMulti(); m != nil {
			pid, _ := m.Pid()
			offsets, _ := m.Offsets()
			for _, o := range offsets {
				held = append(held, Held{m.File, o.Offset, int(pid)})
			}
		}
		if e := info.PerfEvent(); e != nil {
			if u := e.Uprobe(); u != nil {
				held = append(held, Held{Path: u.File, Offset: uint64(u.Offset)})
			}
		}
	}
	return held, it.Err()
}

// perfUprobes returns those of a process's perf events. A process that ends meanwhile holds none.
func perfUprobes(pid int) (held []Held, bare bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	for _, entry := range fds {
		if name, _ := os.Readlink(filepath.Join(dir, entry.Name())); name != "anon_inode:[perf_event]" {
			continue
		}
		fd, _ := strconv.Atoi(entry.Name())
		switch path, offset, err := queryUprobe(pid, fd); {
		case err == nil:
			held = append(held, Held{Path: path, Offset: offset})
		case errors.Is(err, unix.ENOENT):
			bare = true
		}
	}
	return held, bare
}
