package doctor

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

func checkSystem() []Check {
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
	if bpf.Machine(runtime.GOARCH) == 0 {
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
