package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/feature"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/tracefs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

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
		c.ok("optimized probes", "nop5: a hit is a call. Nops of 5 bytes in C programs are left out, as a probe there overwrites variables")
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
