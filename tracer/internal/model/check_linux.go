package model

import (
	"errors"
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// CheckProcess reports whether pid is the process Find saw.
func CheckProcess(pid int, markers []*Marker) error {
	if pid == os.Getpid() {
		return errors.New("this is the tracing process itself")
	}
	st, err := Running(pid)
	if err != nil {
		return err
	}
	for _, m := range markers {
		if seen, ok := m.File.seen[pid]; ok && seen.start != st.Start {
			return fmt.Errorf("process %d is another one by now: it %w", pid, ErrChanged)
		}
	}
	return nil
}

// checkProgram reports whether pid still runs the program Find saw: execve
// changes nothing that checkProcess looks at. One of the files is enough, because a process
// may have unloaded a library meanwhile.
func checkProgram(pid int, markers []*Marker) error {
	want := map[procfs.File]bool{}
	for _, m := range markers {
		if seen, ok := m.File.seen[pid]; ok {
			want[seen.mapped] = true
		}
	}
	if len(want) == 0 {
		return nil // found without a process
	}
	maps, err := procfs.Maps(pid)
	if err != nil {
		return ProcessError("reading the mappings of", pid, procfs.SysPtrace, err)
	}
	for i := range maps {
		if want[maps[i].File()] {
			return nil
		}
	}
	// A process that is ending maps nothing any more.
	if err := CheckProcess(pid, markers); err != nil {
		return err
	}
	return fmt.Errorf("process %d runs another program by now: it %w", pid, ErrChanged)
}

// CheckAttached reports whether what was attached to is what Find saw. Both can have changed
// while the kernel was at work, so it comes afterwards.
func CheckAttached(pids []int, markers []*Marker) error {
	for _, pid := range pids {
		if err := CheckProcess(pid, markers); err != nil {
			return err
		}
		if err := checkProgram(pid, markers); err != nil {
			return err
		}
	}
	return nil
}
