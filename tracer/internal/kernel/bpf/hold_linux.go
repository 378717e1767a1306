package bpf

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// HeldBy is what keeps the thread of news from running.
type HeldBy uint8

const (
	// HeldByNothing means that it runs.
	HeldByNothing HeldBy = iota
	// HeldByStop is a stop by ptrace, which lasts until Release.
	HeldByStop
	// HeldByWait is a wait in the kernel, which lasts a limited time and keeps links from being closed.
	HeldByWait
)

// Hold stops the thread of news, which waits in the kernel until then. The error says why it cannot be stopped.
func (w *Watch) Hold(n prog.News) (HeldBy, error) {
	if w.stops == nil || n.Held == nil {
		return HeldByNothing, w.unheld()
	}
	if err := w.stops.Stop(n.PID, n.Held.Thread); err != nil {
		if debugger, e := procfs.TracerPID(n.PID); e == nil && debugger != 0 {
			err = fmt.Errorf("process %d debugs it", debugger)
		}
		return HeldByWait, err
	}
	if w.takeBack(n.Held.Task) {
		return HeldByStop, nil
	}
	// It had begun to run.
	return HeldByNothing, errors.Join(w.stops.Release(n.Held.Thread), errLate)
}

// errLate is why a thread runs that has waited as long as it may.
var errLate = errors.New("the tracer was too late")

// unheld returns why a thread did not wait at all.
func (w *Watch) unheld() error {
	switch {
	case w.stops == nil:
		return nil
	case w.programs.Hold.By == prog.NoHold:
		return errors.New("the kernel cannot hold a process that executes a program: that needs Linux 6.18, or CONFIG_FUNCTION_ERROR_INJECTION")
	}
	w.takeBack(0)
	return errLate
}

// Release lets the thread of news run, and reports whether it was held until now.
func (w *Watch) Release(n prog.News, by HeldBy) (until bool, err error) {
	switch by {
	case HeldByStop:
		return true, w.stops.Release(n.Held.Thread)
	case HeldByWait:
		return w.takeBack(n.Held.Task), nil
	}
	return false, nil
}

// takeBack ends a thread's wait, and reports whether it did wait.
func (w *Watch) takeBack(task uint32) bool {
	var state uint64
	err := w.held.Lookup(task, &state)
	_ = w.held.Delete(task)
	if err == nil && state == prog.Waits {
		return true
	}
	_ = w.held.Delete(uint32(0)) // so that the next one waits
	return false
}

// releaseAll lets all threads run.
func (w *Watch) releaseAll() {
	if w.held != nil {
		for range maxWatched {
			var task uint32
			if w.held.NextKey(nil, &task) != nil {
				break
			}
			_ = w.held.Delete(task)
		}
	}
	if w.stops != nil {
		_ = w.stops.Close() // what it stopped runs, however it ends
	}
}

// execveCalls are the system calls that execute a program, by the names that the kernel's functions have.
var execveCalls = map[string][]string{
	"amd64": {"__x64_sys_execve", "__x64_sys_execveat", "__ia32_compat_sys_execve", "__ia32_compat_sys_execveat"},
	"arm64": {"__arm64_sys_execve", "__arm64_sys_execveat", "__arm64_compat_sys_execve", "__arm64_compat_sys_execveat"},
}

// watchPrograms are the programs that keep the set of processes, with the names of the kernel's raw tracepoints, ""
// for those that know themselves where they belong.
func (w *Watch) watchPrograms() (programs []*ebpf.Program, names []string, err error) {
	for {
		programs, names, err = w.loadPrograms()
		if err == nil || w.programs.Hold.By == prog.NoHold {
			return programs, names, err
		}
		_ = closeAll(programs)
		w.programs.Hold.By = lessHold[w.programs.Hold.By]
	}
}

// lessHold is how to hold threads where the kernel refuses another way.
var lessHold = map[prog.HoldBy]prog.HoldBy{prog.HoldByWork: prog.HoldByReturn, prog.HoldByReturn: prog.NoHold}

func (w *Watch) loadPrograms() (programs []*ebpf.Program, names []string, err error) {
	for _, t := range w.programs.RawTracepoints() {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
			Name: "waymark_watch", Type: ebpf.RawTracepoint, License: "Dual MIT/GPL", Instructions: t.Instructions,
		})
		if err != nil {
			return programs, nil, fmt.Errorf("loading eBPF program for %s: %w", t.Name, err)
		}
		programs, names = append(programs, p), append(names, t.Name)
	}
	if w.programs.Hold.By != prog.HoldByReturn {
		return programs, names, nil
	}
	for i, call := range execveCalls[runtime.GOARCH] {
		p, err := loadReturned(call, w.programs.Returned)
		if err != nil && i == 0 { // the kernel may lack others
			return programs, nil, err
		}
		if err == nil {
			programs, names = append(programs, p), append(names, "")
		}
	}
	return programs, names, nil
}

// loadReturned loads the program for the end of a system call: one that gives up the CPU while it waits, else one that
// does not.
func loadReturned(call string, assemble func(sleepable bool) asm.Instructions) (p *ebpf.Program, err error) {
	for _, flags := range []uint32{unix.BPF_F_SLEEPABLE, 0} {
		p, err = ebpf.NewProgram(&ebpf.ProgramSpec{
			Name: "waymark_hold", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceFExit, AttachTo: call,
			License: "Dual MIT/GPL", Flags: flags, Instructions: assemble(flags != 0),
		})
		if err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("loading eBPF program for %s: %w", call, err)
}
