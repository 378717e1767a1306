package bpf

import (
	"errors"
	"math"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
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
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type:         ebpf.Kprobe,
		AttachType:   ebpf.AttachTraceUprobeMulti,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
		License:      "MIT",
	})
	if err != nil {
		return err
	}
	defer prog.Close()
	ex, err := link.OpenExecutable("/")
	if err != nil {
		return err
	}
	l, err := ex.UprobeMulti(nil, prog, &link.UprobeMultiOptions{Addresses: []uint64{1}, PID: math.MaxUint32})
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
