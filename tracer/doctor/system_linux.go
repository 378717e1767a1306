package doctor

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// CheckSystem returns what this kernel and the privileges of this process allow. The last checks attach to
// an instruction of this process, which does not run it, and detach.
func CheckSystem() []Check {
	var c checks
	c.kernel()
	c.capabilities()
	c.settings()
	c.features()
	if err := bpf.TryGuard(); err != nil {
		c.warn("guard", err.Error(), "do not end waymark by SIGKILL here: counters may stay raised, which waymark doctor -p PID repairs")
	} else {
		c.ok("guard", "a process that detaches however waymark ends")
	}
	c.attaching()
	return c
}

func (c *checks) kernel() {
	release := "Linux"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		release += " " + unix.ByteSliceToString(u.Release[:])
	}
	release += " on " + runtime.GOARCH
	if prog.Machine(runtime.GOARCH) == 0 {
		c.fail("kernel", release, "tracing needs x86-64; on arm64 it was never tried")
		return
	}
	c.ok("kernel", release)
}

// lackOf says what does not work without a capability that attaching does without.
var lackOf = []struct {
	capability procfs.Capability
	what       string
}{
	{procfs.SysPtrace, "processes of other users, and counters"},
	{procfs.CheckpointRestore, "libraries that were deleted or replaced, or are in other containers"},
}

func (c *checks) capabilities() {
	have, err := procfs.Effective()
	if err != nil {
		c.err("capabilities", Warn, fmt.Errorf("could not be told: %w", err))
		return
	}
	var held, missing []string
	for _, one := range []procfs.Capability{procfs.BPF, procfs.Perfmon, procfs.SysAdmin, procfs.SysPtrace, procfs.CheckpointRestore} {
		if have.Has(one) {
			held = append(held, one.String())
		} else {
			missing = append(missing, one.String())
		}
	}
	reason := "none is held"
	if len(held) > 0 {
		reason = "held " + strings.Join(held, ", ")
	}
	if len(missing) > 0 {
		reason += "; missing " + strings.Join(missing, ", ")
	}
	var refused *model.PermissionError
	if errors.As(model.AttachPermission("attaching"), &refused) {
		c.fail("capabilities", reason+": attaching needs "+refused.Capability, refused.Hint)
		return
	}
	var lost []string
	for _, l := range lackOf {
		if !have.Has(l.capability) && !(model.Substitute(l.capability) && have.Has(procfs.SysAdmin)) {
			lost = append(lost, l.what)
		}
	}
	if len(lost) > 0 {
		c.warn("capabilities", reason+": without "+strings.Join(lost, "; and "), model.Hint())
		return
	}
	c.ok("capabilities", reason)
}

// attaching does once what Count and Trace do.
func (c *checks) attaching() {
	var refused *model.PermissionError
	if errors.As(model.AttachPermission("attaching"), &refused) {
		c.fail("stat", "not tried: missing "+refused.Capability, "")
		c.fail("trace", "not tried: missing "+refused.Capability, "")
		return
	}
	file, offset, err := harmless()
	if err != nil {
		c.err("stat", Warn, fmt.Errorf("could not be tried: %w", err))
		return
	}
	defer file.Close()
	mode, err := bpf.TryCount(file, offset, os.Getpid())
	if err != nil {
		c.err("stat", Fail, tryError("attaching to count", err))
	} else {
		c.ok("stat", "attached by "+modeNames[mode]+", and detached")
	}
	if err := bpf.TryTrace(file, offset, os.Getpid()); err != nil {
		c.err("trace", Fail, tryError("attaching to trace", err))
	} else {
		c.ok("trace", "attached, and detached")
	}
}

var modeNames = map[bpf.Mode]string{
	bpf.Multi: "uprobe_multi", bpf.Events: "perf events with cookies", bpf.EventsPlain: "perf events",
}

func tryError(op string, err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return model.Permission(op, procfs.BPF, err)
	}
	return fmt.Errorf("%s: %w", op, model.NotSupported(err))
}

// bystander is never called: a place for a probe that is never hit.
//
//go:noinline
func bystander() int { return 1 }

// harmless returns this process's file, open, and where bystander is in it.
func harmless() (*os.File, uint64, error) {
	maps, err := procfs.Maps(os.Getpid())
	if err != nil {
		return nil, 0, err
	}
	at := uint64(reflect.ValueOf(bystander).Pointer())
	for i := range maps {
		if m := &maps[i]; m.Executable && m.Start <= at && at < m.End {
			f, err := os.Open("/proc/self/exe")
			return f, m.Offset + at - m.Start, err
		}
	}
	return nil, 0, errors.New("this program does not map itself")
}

// settings are those with which an administrator restricts tracing. Attaching has the last word: what
// they forbid it meets.
func (c *checks) settings() {
	have, _ := procfs.Effective()
	for _, s := range []struct {
		name, path string
		capability procfs.Capability
	}{
		{"perf_event_paranoid", "kernel/perf_event_paranoid", procfs.Perfmon},
		{"unprivileged_bpf_disabled", "kernel/unprivileged_bpf_disabled", procfs.BPF},
	} {
		v, err := procfs.Sysctl(s.path)
		switch held := have.Has(s.capability) || have.Has(procfs.SysAdmin); {
		case errors.Is(err, os.ErrNotExist):
			c.ok(s.name, "this kernel has no such setting")
		case err != nil:
			c.err(s.name, Warn, fmt.Errorf("could not be told: %w", err))
		case held:
			c.ok(s.name, fmt.Sprintf("%d, which %s is exempt from", v, s.capability))
		default:
			c.warn(s.name, fmt.Sprintf("%d, and %s is missing", v, s.capability), "no value replaces the capability")
		}
	}
	c.lockdown()
	c.seccomp()
}

func (c *checks) lockdown() {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	_, rest, _ := strings.Cut(string(b), "[")
	mode, _, _ := strings.Cut(rest, "]")
	switch {
	case errors.Is(err, os.ErrNotExist):
		c.ok("lockdown", "not in this kernel, or securityfs is not mounted")
	case err != nil:
		c.err("lockdown", Warn, fmt.Errorf("could not be told: %w", err))
	case mode == "confidentiality":
		// bpf_probe_read_kernel and tracefs are refused: security/lockdown, kernel_lockdown(7).
		c.warn("lockdown", "confidentiality: nothing of the kernel may be read, so --follow, containers and waymark probe do not work",
			"boot with lockdown=integrity or none")
	default:
		c.ok("lockdown", mode)
	}
}

func (c *checks) seccomp() {
	v, err := procfs.Status(os.Getpid(), "Seccomp")
	switch {
	case err != nil:
		c.err("seccomp", Warn, fmt.Errorf("could not be told: %w", err))
	case v[0] == "" || v[0] == "0":
		c.ok("seccomp", "no filter")
	default:
		c.warn("seccomp", "a filter decides which system calls this process may make",
			"let it allow bpf and perf_event_open: docker run --security-opt seccomp=FILE")
	}
}

func (c *checks) features() {
	f := bpf.AskFeatures()
	c.feature("uprobe_multi", f.Multi, "one link for all sites of a file", Warn, "a perf event for each site instead: attaching to thousands takes seconds")
	c.feature("attach cookies", f.Cookies, "one program for many sites", Warn, "a program for each site instead")
	if model.HaveCounters() {
		c.ok("reference counters", "the kernel raises them")
	} else {
		c.fail("reference counters", "the uprobe PMU has no ref_ctr_offset", "markers with reference counters need Linux 4.20")
	}
	c.feature("ring buffer", f.RingBuffer, "events reach waymark in order", Fail, "stat works, trace needs Linux 5.8")
	c.feature("BTF", f.Types, "the kernel describes its types", Warn, "--follow needs a kernel with CONFIG_DEBUG_INFO_BTF")

	switch fs, err := tracefs.Find(); {
	case err == nil:
		c.ok("tracefs", "mounted at "+fs.Dir())
	case errors.Is(err, tracefs.ErrNotMounted):
		c.warn("tracefs", "not mounted", "waymark probe alone needs it: mount -t tracefs tracefs /sys/kernel/tracing")
	default:
		c.warn("tracefs", err.Error(), "waymark probe alone needs it, as root")
	}

	switch g, err := feature.UprobeGeneration(); {
	case err != nil:
		c.err("optimized probes", Warn, fmt.Errorf("could not be told: %w", err))
	case g == feature.Breakpoint:
		c.ok("optimized probes", "none: each hit is an exception, some 1 µs")
	case g == feature.Nop5:
		c.ok("optimized probes", "nop5: a hit is a call. Nops of 5 bytes are left out in C functions that may have variables below the stack pointer, which a probe overwrites")
	default:
		c.ok("optimized probes", g.String()+": a hit is a call")
	}
}

// feature notes one of the three answers. lack is how bad it is when the kernel lacks it.
func (c *checks) feature(name string, err error, good string, lack Status, without string) {
	switch {
	case err == nil:
		c.ok(name, good)
	case errors.Is(err, bpf.ErrNotSupported):
		*c = append(*c, Check{name, lack, "not in this kernel", without})
	case errors.Is(err, os.ErrPermission):
		hint := ""
		if model.AttachPermission("") != nil {
			hint = "ask again with CAP_BPF and CAP_PERFMON"
		}
		c.warn(name, "could not be told: permission denied", hint)
	default:
		c.err(name, Warn, fmt.Errorf("could not be told: %w", err))
	}
}
