package bpf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/guard"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// ErrNotSupported is what this package's errors wrap when the kernel lacks a facility.
var ErrNotSupported = ebpf.ErrNotSupported

// askMulti and askCookies are asked before attaching. Tests answer in the kernel's place.
var askMulti, askCookies = haveMulti, haveCookies

// ways returns those of attaching, the best first. What the kernel lacks is left out: that it
// does not know a helper it says by EINVAL, as it says much else.
func ways() []Mode {
	if askMulti() == nil {
		return []Mode{Multi, Events, EventsPlain} // Linux 6.6 and later have cookies
	}
	if errors.Is(askCookies(), ErrNotSupported) {
		return []Mode{EventsPlain}
	}
	return []Mode{Events, EventsPlain}
}

// haveCookies reports whether a program can ask which perf event it runs for: Linux 5.15.
func haveCookies() error { return features.HaveProgramHelper(ebpf.Kprobe, asm.FnGetAttachCookie) }

var multiOnce struct {
	sync.Mutex
	done bool
	err  error
}

// haveMulti reports whether links of type uprobe_multi can be used: nil, ErrNotSupported, or
// an error when it could not be told, which is not remembered.
func haveMulti() error {
	multiOnce.Lock()
	defer multiOnce.Unlock()
	if multiOnce.done {
		return multiOnce.err
	}
	err := probeMulti()
	if err == nil || errors.Is(err, ErrNotSupported) {
		multiOnce.done, multiOnce.err = true, err
	}
	return err
}

// probeMulti asks for a kernel with 46ba0e49b642 ("bpf: fix multi-uprobe PID filtering
// logic"): those before it, Linux 6.6 to 6.9, saw one thread of a process only. With it a
// negative PID is EINVAL before the path is looked at; without, "/" is EBADF. libbpf asks the
// same way in src/features.c.
func probeMulti() error {
	if err := features.HaveBPFLinkUprobeMulti(); err != nil {
		return err
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type:         ebpf.Kprobe,
		AttachType:   ebpf.AttachTraceUprobeMulti,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		License:      "MIT",
	})
	if err != nil {
		return err
	}
	defer p.Close()
	ex, err := link.OpenExecutable("/")
	if err != nil {
		return err
	}
	l, err := ex.UprobeMulti(nil, p, &link.UprobeMultiOptions{Addresses: []uint64{1}, PID: math.MaxUint32})
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, unix.EINVAL):
		return nil
	case errors.Is(err, unix.EBADF):
		return ErrNotSupported
	}
	return err
}

// ErrNoTypes says that the kernel does not describe its types.
var ErrNoTypes = errors.New("reading the kernel's types")

// loadKernelTypes reads the kernel's own description of its types, which Linux 5.4 and later
// have when CONFIG_DEBUG_INFO_BTF is set.
var loadKernelTypes = sync.OnceValues(func() (*prog.Types, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %w", ErrNoTypes, ErrNotSupported, err)
	}
	return prog.ReadTypes(spec)
})

// initialPIDNamespace is PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
const initialPIDNamespace = 0xEFFFFFFC

func ownPIDNamespace() (*prog.Namespace, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return nil, fmt.Errorf("reading this process's PID namespace: %w", err)
	}
	n := &prog.Namespace{Device: uint64(st.Dev), Inode: st.Ino}
	if st.Ino == initialPIDNamespace {
		return n, nil
	}
	n.Level = 1 // below the initial one, at least
	types, err := loadKernelTypes()
	if err != nil {
		return n, nil
	}
	if n.Level, err = ownLevel(types); err != nil {
		return nil, err
	}
	n.Types = types
	return n, nil
}

// ownLevel asks the kernel for the level of this process's namespace, which nothing in user
// space tells, by a program that it runs right here.
func ownLevel(k *prog.Types) (int, error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waymark_level", Type: ebpf.RawTracepoint, License: "Dual MIT/GPL", Instructions: k.Level(),
	})
	if err != nil {
		return 0, fmt.Errorf("loading eBPF program waymark_level: %w", err)
	}
	defer p.Close()
	level, err := p.Run(&ebpf.RunOptions{Context: make([]byte, 8*12)})
	if err != nil {
		return 0, fmt.Errorf("asking for the level of this process's PID namespace: %w", err)
	}
	// MAX_PID_NS_LEVEL of kernel/pid_namespace.c.
	if level == 0 || level > 32 {
		return 0, fmt.Errorf("the level of this process's PID namespace cannot be %d", level)
	}
	return int(level), nil
}

// Features says of what attaching makes use of whether the kernel has it: nil,
// ErrNotSupported, or an error when it could not be told.
type Features struct {
	Multi      error // links of type uprobe_multi
	Cookies    error // of perf events
	RingBuffer error
	Types      error // the kernel's description of its types
}

// AskFeatures asks the kernel.
func AskFeatures() Features {
	_ = rlimit.RemoveMemlock() // as attach does, and for the same reason
	_, types := loadKernelTypes()
	return Features{
		Multi:      haveMulti(),
		Cookies:    haveCookies(),
		RingBuffer: features.HaveMapType(ebpf.RingBuf),
		Types:      types,
	}
}

// TryGuard starts a guard and ends it.
func TryGuard() error {
	g, err := guard.Start()
	if err != nil {
		return err
	}
	return g.Close()
}

// TryCount attaches to an instruction of a file in one process, for counting, and detaches. It
// returns the way in which that went.
func TryCount(f *os.File, offset uint64, pid int) (Mode, error) {
	return attachOnce(f, []prog.Site{{Offset: offset}}, pid)
}

// RemoveLeaked removes the uprobes that the kernel leaked at the sites of a file, in all processes: it attaches in one of them, which
// finds the leaked uprobe and takes it over, and detaches, which removes what no other tracer holds. A probe that is not leaked is left alone.
func RemoveLeaked(f *os.File, sites []prog.Site, pid int) error {
	_, err := attachOnce(f, sites, pid)
	return err
}

func attachOnce(f *os.File, sites []prog.Site, pid int) (Mode, error) {
	c, err := NewCounter(Options{})
	if err != nil {
		return Auto, err
	}
	if _, err := c.Add([]File{{Opened: f, Sites: sites}}, 1, []int{pid}); err != nil {
		return Auto, errors.Join(err, c.Close())
	}
	mode := c.held.mode // Close forgets it
	return mode, c.Close()
}

// TryTrace is TryCount for events.
func TryTrace(f *os.File, offset uint64, pid int) error {
	t, err := NewTracer(Options{BufferSize: os.Getpagesize()})
	if err != nil {
		return err
	}
	site := prog.Site{Offset: offset, Plan: &prog.Plan{Goid: -1}}
	_, err = t.Add([]File{{Opened: f, Sites: []prog.Site{site}}}, 1, []int{pid})
	return errors.Join(err, t.Close())
}
