package seize

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// Tracer stops threads. Its methods are for several goroutines.
type Tracer struct {
	requests chan func()
	over     chan struct{}
	gone     chan struct{} // closed when all threads run
	failed   error         // to be read after that
	close    sync.Once
	held     map[int]int // thread to process; the tracing thread's
}

// New returns a Tracer, which has a thread of its own: ptrace takes requests from the thread that traces.
func New() *Tracer {
	t := &Tracer{requests: make(chan func()), over: make(chan struct{}), gone: make(chan struct{}), held: map[int]int{}}
	go t.run()
	return t
}

func (t *Tracer) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends, and with it what it traces is let go
	for {
		select {
		case do := <-t.requests:
			do()
		case <-t.over:
			for thread := range t.held {
				t.failed = errors.Join(t.failed, t.release(thread))
			}
			close(t.gone)
			return
		}
	}
}

// do has the tracing thread call a function.
func (t *Tracer) do(f func() error) (err error) {
	done := make(chan struct{})
	select {
	case t.requests <- func() { err = f(); close(done) }:
		<-done
		return err
	case <-t.over:
		return os.ErrClosed
	}
}

// Stop has a thread of a process stop before its next instruction in user mode. It does not wait for that. The
// error says why it does not stop; it wraps unix.EPERM if something else traces the thread.
func (t *Tracer) Stop(process, thread int) error {
	return t.do(func() error {
		if parent, err := procfs.Status(process, "PPid"); err == nil && parent[0] == strconv.Itoa(os.Getpid()) {
			return fmt.Errorf("stopping thread %d of process %d: it is a child of this process", thread, process)
		}
		if err := unix.PtraceSeize(thread); err != nil {
			return fmt.Errorf("stopping thread %d of process %d: %w", thread, process, err)
		}
		t.held[thread] = process
		if err := unix.PtraceInterrupt(thread); err != nil && err != unix.ESRCH {
			return errors.Join(fmt.Errorf("stopping thread %d of process %d: %w", thread, process, err), t.release(thread))
		}
		return nil
	})
}

// Release lets a thread run. It does nothing for others than those that Stop has stopped.
func (t *Tracer) Release(thread int) error {
	return t.do(func() error { return t.release(thread) })
}

// Close lets all threads run, and returns when they do. Further calls do nothing.
func (t *Tracer) Close() error {
	t.close.Do(func() { close(t.over) })
	<-t.gone
	return t.failed
}

const (
	// pollEvery is how often it is asked whether a thread has stopped, which takes microseconds unless something
	// keeps it in the kernel.
	pollEvery = 100 * time.Microsecond
	// patience is how long that may be.
	patience = 10 * time.Second
)

func (t *Tracer) release(thread int) error {
	process, ok := t.held[thread]
	if !ok {
		return nil
	}
	delete(t.held, thread)
	for begun := time.Now(); ; time.Sleep(pollEvery) {
		status, err := stopStatus(thread)
		switch {
		case err != nil:
			return nil // it has ended, and its parent knows
		case status != 0:
			return detach(process, thread, status)
		case ended(process, thread):
			reap(thread)
			return nil
		case time.Since(begun) > patience:
			return fmt.Errorf("releasing thread %d of process %d: it has not stopped in %v", thread, process, patience)
		}
	}
}

// detach lets a thread go on that has stopped. A signal that it has stopped for is delivered.
func detach(process, thread, status int) error {
	signal := 0
	if status>>8 == 0 { // else it is a stop by ptrace, or one of all threads, which the kernel restores
		signal = status
	}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(thread), 0, uintptr(signal), 0, 0)
	switch errno {
	case 0:
	case unix.ESRCH: // killed while it was stopped
		for begun := time.Now(); !ended(process, thread) && time.Since(begun) < patience; {
			time.Sleep(pollEvery)
		}
		reap(thread)
	default:
		return fmt.Errorf("releasing thread %d of process %d: %w", thread, process, errno)
	}
	return nil
}

// ended reports whether a thread is a zombie, or gone.
func ended(process, thread int) bool {
	st, err := procfs.ReadThreadStat(process, thread)
	return err != nil || st.State == 'Z' || st.State == 'X'
}

// reap takes note of a thread's end, of which its parent hears only then.
func reap(thread int) {
	_, _ = unix.Wait4(thread, nil, unix.WALL|unix.WNOHANG, nil)
}
