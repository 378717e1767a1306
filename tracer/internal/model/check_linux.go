package model

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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

// EventSources is the directory that describes the kernel's perf events. Tests replace it.
var EventSources = "/sys/bus/event_source/devices"

// HaveCounters reports whether the kernel raises reference counters of uprobes, as Linux 4.20
// and later do. Without sysfs it assumes so.
func HaveCounters() bool {
	if _, err := os.Stat(EventSources); err != nil {
		return true
	}
	_, err := os.Stat(filepath.Join(EventSources, "uprobe/format/ref_ctr_offset"))
	return err == nil
}

// ErrNoCounters reports a site with a reference counter that the kernel cannot raise. Such a site
// would never be hit.
var ErrNoCounters = fmt.Errorf("markers with reference counters need Linux 4.20 or later: %w", ErrNotSupported)

func (m *Marker) counters(pid int) ([]uint16, error) {
	seen, ok := m.File.seen[pid]
	if !ok {
		return nil, fmt.Errorf("%s was not found in process %d", m.FullName(), pid)
	}
	if err := CheckProcess(pid, []*Marker{m}); err != nil {
		return nil, err
	}
	maps, err := procfs.Maps(pid)
	if err != nil {
		return nil, ProcessError("reading the mappings of", pid, procfs.SysPtrace, err)
	}
	values := make([]uint16, len(m.Sites))
	for i := range m.Sites {
		offset := uint64(m.Sites[i].CounterOffset)
		if offset == 0 {
			continue
		}
		at, ok := counterAddress(maps, seen.mapped, offset)
		if !ok {
			return nil, fmt.Errorf("process %d does not map the counter of %s", pid, m.FullName())
		}
		if values[i], err = procfs.ReadCounter(pid, at); err != nil {
			return nil, ProcessError("reading the memory of", pid, procfs.SysPtrace, err)
		}
	}
	return values, nil
}

// counterAddress returns where a counter is. The kernel raises it where the file is mapped
// writable and private: valid_ref_ctr_vma, kernel/events/uprobes.c.
func counterAddress(maps []procfs.Mapping, file procfs.File, offset uint64) (uint64, bool) {
	for i := range maps {
		if !maps[i].Writable {
			continue
		}
		if at, ok := procfs.Address(maps[i:i+1], file, offset); ok {
			return at, true
		}
	}
	return 0, false
}

// Permission explains a refusal: needed is the capability that would have allowed it.
func Permission(op string, needed procfs.Capability, err error) error {
	e := &PermissionError{Op: op, Err: err}
	have, capErr := procfs.Effective()
	if capErr == nil && (have.Has(needed) || Substitute(needed) && have.Has(procfs.SysAdmin)) {
		e.Hint = "the capabilities are there: a security module, a seccomp filter or kernel lockdown refuses"
		if needed == procfs.BPF || needed == procfs.Perfmon {
			e.Hint += sysctls()
		}
		return e
	}
	e.Capability = needed.String()
	e.Hint = Hint()
	return e
}

// Substitute reports whether CAP_SYS_ADMIN, which it was split from, includes it.
func Substitute(c procfs.Capability) bool { return c != procfs.SysPtrace }

// AttachPermission reports whether this process may attach at all: CAP_BPF and CAP_PERFMON,
// or CAP_SYS_ADMIN, which they were split from in Linux 5.8.
func AttachPermission(op string) error {
	have, err := procfs.Effective()
	if err != nil && !procMounted() {
		return fmt.Errorf("%s: %w", op, ErrNoProc) // files are opened and mapped through it
	}
	if err != nil || have.Has(procfs.SysAdmin) {
		return nil // the kernel will say
	}
	for _, c := range []procfs.Capability{procfs.BPF, procfs.Perfmon} {
		if !have.Has(c) {
			e := &PermissionError{Op: op, Capability: c.String(), Hint: Hint() + agentToo}
			if c == procfs.BPF && !have.Has(procfs.Perfmon) {
				e.Capability += " and " + procfs.Perfmon.String()
			}
			return e
		}
	}
	return nil
}

// agentToo is what needs no privilege.
const agentToo = "; a Go program that imports waymark's agent/auto may be traced by its own user"

func Hint() string {
	program, err := os.Executable()
	if err != nil || strings.Contains(program, "/go-build") { // of go run, which removes it
		program = "waymark, built with go build or go install"
	}
	return "run it as root, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore+ep " + program + "; then everybody may trace who may execute it"
}

// sysctls names the settings that restrict tracing.
func sysctls() string {
	s := ""
	for _, name := range []string{"kernel/unprivileged_bpf_disabled", "kernel/perf_event_paranoid"} {
		if v, err := procfs.Sysctl(name); err == nil {
			s += fmt.Sprintf("; %s is %d", name, v)
		}
	}
	return s
}
