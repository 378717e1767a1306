package killed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// launcher is the variable by which this test's executable becomes what it is given as arguments, with the filter.
const launcher = "WAYMARK_KILLED_LAUNCH"

// launch installs the filter and executes the arguments.
func launch() error {
	os.Unsetenv(launcher)
	runtime.LockOSThread() // the filter is the thread's, and execve keeps it
	if err := installFilter(); err != nil {
		return fmt.Errorf("installing the filter: %w", err)
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// moment is where a run is killed: at the nth call of a kind.
type moment struct {
	kind string
	n    int  // from 1
	exit bool // after the call, not before it
	all  bool // waymark and its guard, not only the process that makes the call
}

func (m *moment) String() string {
	if m == nil {
		return "not killed"
	}
	when, who := "before", "the process"
	if m.exit {
		when = "after"
	}
	if m.all {
		who = "all processes"
	}
	return fmt.Sprintf("%s killed %s %s call %d", who, when, m.kind, m.n)
}

// run is a run of waymark under the driver.
type run struct {
	at     *moment // nil for one that is not killed
	counts map[string]int
	killed bool
	status unix.WaitStatus // of waymark

	main   int
	begun  map[int]bool // threads that are traced, false for one that has not stopped yet
	ended  map[int]bool // threads that were traced
	leaves int          // the thread that is killed when it leaves its call, 0 for none
}

// drive runs a command until it and all that it started have ended. Its output goes to a file.
func drive(at *moment, argv, env []string, dir string, output *os.File) (*run, error) {
	r := &run{at: at, counts: map[string]int{}, begun: map[int]bool{}, ended: map[int]bool{}}
	failed := make(chan error)
	go func() {
		// Every request comes from the thread that is the tracer, which ends with this goroutine.
		runtime.LockOSThread()
		failed <- r.drive(argv, env, dir, output)
	}()
	return r, <-failed
}

func (r *run) drive(argv, env []string, dir string, output *os.File) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	r.main, err = syscall.ForkExec(self, append([]string{self}, argv...), &syscall.ProcAttr{
		Dir: dir, Env: append(env, launcher+"=1"), Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return fmt.Errorf("starting waymark: %w", err)
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(r.main, &ws, 0, nil); err != nil || !ws.Stopped() {
		return fmt.Errorf("waiting for waymark's start: %v, %w", ws, err)
	}
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXEC
	if err := unix.PtraceSetOptions(r.main, options); err != nil {
		return fmt.Errorf("tracing waymark: %w", err)
	}
	r.begun[r.main] = true
	if err := unix.PtraceCont(r.main, 0); err != nil {
		return err
	}
	for len(r.begun) > 0 {
		tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("waiting for %d threads: %w", len(r.begun), err)
		case !ws.Stopped():
			r.ends(tid)
			if tid == r.main {
				r.status = ws
			}
		default:
			if err := r.stopped(tid, ws); err != nil && !errors.Is(err, unix.ESRCH) { // killed meanwhile
				return fmt.Errorf("process %d: %w", tid, err)
			}
		}
	}
	return nil
}

func (r *run) ends(tid int) {
	delete(r.begun, tid)
	r.ended[tid] = true
}

// stopped decides what becomes of a thread that has stopped.
func (r *run) stopped(tid int, ws unix.WaitStatus) error {
	signal := int(ws.StopSignal())
	switch {
	case signal == int(unix.SIGTRAP)|0x80: // it leaves a call
		if r.leaves == tid {
			r.leaves = 0
			return r.kill(tid)
		}
		signal = 0
	case ws.StopSignal() == unix.SIGTRAP && ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		kind, err := kindOf(tid)
		if err != nil {
			return err
		}
		if kind == "" {
			return unix.PtraceCont(tid, 0)
		}
		r.counts[kind]++
		if r.killed || r.at == nil || r.at.kind != kind || r.at.n != r.counts[kind] {
			return unix.PtraceCont(tid, 0)
		}
		if r.at.exit {
			r.leaves = tid
			return unix.PtraceSyscall(tid, 0)
		}
		return r.kill(tid)
	case ws.StopSignal() == unix.SIGTRAP && ws.TrapCause() > 0: // a new thread, process or program
		signal = 0
		message, err := unix.PtraceGetEventMsg(tid)
		if err != nil {
			return err
		}
		switch other := int(message); {
		case ws.TrapCause() != unix.PTRACE_EVENT_EXEC:
			// The child may have stopped before, and even ended.
			if _, known := r.begun[other]; !known && !r.ended[other] {
				r.begun[other] = false
			}
		case other != tid: // the number that a thread had before it executed a program, which made it the first one
			r.ends(other)
		}
	case signal == int(unix.SIGSTOP) && !r.begun[tid]:
		signal = 0
	}
	r.begun[tid] = true
	return unix.PtraceCont(tid, signal)
}

// kill kills the process of a thread, or all.
func (r *run) kill(tid int) error {
	r.killed = true
	victims := []int{tid}
	if r.at.all {
		for t := range r.begun {
			victims = append(victims, t)
		}
	}
	for _, t := range victims {
		values, err := procfs.Status(t, "Tgid")
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(values[0])
		if err != nil {
			return err
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// reading are the bpf commands that change nothing.
var reading = map[uint64]bool{
	unix.BPF_MAP_LOOKUP_ELEM: true, unix.BPF_MAP_GET_NEXT_KEY: true, unix.BPF_OBJ_GET_INFO_BY_FD: true, unix.BPF_MAP_LOOKUP_BATCH: true,
	unix.BPF_PROG_GET_NEXT_ID: true, unix.BPF_MAP_GET_NEXT_ID: true, unix.BPF_BTF_GET_NEXT_ID: true, unix.BPF_LINK_GET_NEXT_ID: true,
	unix.BPF_PROG_GET_FD_BY_ID: true, unix.BPF_MAP_GET_FD_BY_ID: true, unix.BPF_BTF_GET_FD_BY_ID: true, unix.BPF_LINK_GET_FD_BY_ID: true,
}

// kindOf names the call that a thread enters, "" for one that changes nothing.
func kindOf(tid int) (string, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return "", err
	}
	switch regs.Orig_rax {
	case unix.SYS_BPF:
		if reading[regs.Rdi] {
			return "", nil
		}
		return "bpf", nil
	case unix.SYS_PERF_EVENT_OPEN:
		return "perf_event_open", nil
	case unix.SYS_IOCTL:
		if regs.Rsi == unix.TCGETS || regs.Rsi == unix.TIOCGWINSZ {
			return "", nil
		}
		return "ioctl", nil
	case unix.SYS_MMAP:
		if regs.R10&unix.MAP_SHARED == 0 || regs.Rdx&unix.PROT_WRITE == 0 {
			return "", nil
		}
		return "mmap", nil
	case unix.SYS_OPENAT:
		if regs.Rdx&unix.O_CREAT == 0 {
			return "", nil
		}
		return "create", nil
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_SENDMSG, unix.SYS_COPY_FILE_RANGE:
		// Go's runtime wakes its threads by an eventfd.
		if name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(regs.Rdi))); strings.Contains(name, "[eventfd]") {
			return "", nil
		}
		return "write", nil
	case unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return "rename", nil
	}
	return "file", nil // makes, removes or changes one
}
