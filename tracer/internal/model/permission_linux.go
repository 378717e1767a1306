package model

import (
	"fmt"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/internal/procfs"
)

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
