package tracer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// command is a child that stays stopped under ptrace until it is resumed. Requests of
// ptrace must come from the thread that forked it, so a goroutine is locked to one for that time.
type command struct {
	cmd      *exec.Cmd
	resumeCh chan chan error
	once     sync.Once
	result   error
	stopped  chan struct{} // closed when the ptrace thread has let go
}

func start(ctx context.Context, argv []string, o *StartOptions) (startedProcess, Engine, error) {
	if len(argv) == 0 {
		return nil, EngineAuto, errors.New("starting a command: it has no name")
	}
	if o.Engine == EngineAgent || o.Engine == EngineAuto && kernelPermitted() != nil && programHasAgent(argv[0]) {
		c, err := startAgent(ctx, argv, o)
		return c, EngineAgent, err
	}
	c, err := startStopped(ctx, argv, o)
	return c, EngineKernel, err
}

func startStopped(ctx context.Context, argv []string, o *StartOptions) (*command, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	cmd.Env, cmd.Dir = o.Env, o.Dir
	// The child asks to be traced before execve, which then stops it with SIGTRAP as soon
	// as the new program is in place (ptrace(2), PTRACE_TRACEME).
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	c := &command{cmd: cmd, resumeCh: make(chan chan error), stopped: make(chan struct{})}
	started := make(chan error)
	go c.own(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// own runs on the thread that is the child's tracer, until it has let go of the child.
func (c *command) own(started chan<- error) {
	runtime.LockOSThread() // ptrace identifies the tracer by thread
	defer runtime.UnlockOSThread()
	defer close(c.stopped)
	if err := c.launch(); err != nil {
		started <- err
		return
	}
	started <- nil
	reply := <-c.resumeCh
	reply <- c.detach()
}

func (c *command) launch() error {
	if err := c.cmd.Start(); err != nil {
		if errors.Is(err, unix.EPERM) && !errors.Is(err, os.ErrNotExist) {
			return &PermissionError{
				Op:   "starting " + c.cmd.Path + " stopped",
				Hint: "ptrace is refused here (a seccomp profile or a security module): start the command yourself and attach by PID",
				Err:  err,
			}
		}
		return fmt.Errorf("starting the command: %w", err)
	}
	pid := c.cmd.Process.Pid
	if err := awaitExec(pid); err != nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		return fmt.Errorf("starting %s stopped: %w", c.cmd.Path, err)
	}
	// Otherwise a tracer that dies before Resume would leave its command running untraced.
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL); err != nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		return fmt.Errorf("starting %s stopped: setting ptrace options: %w", c.cmd.Path, err)
	}
	return nil
}

// awaitExec waits for the stop that execve makes.
func awaitExec(pid int) error {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("waiting for its execve: %w", err)
		case ws.Stopped() && ws.StopSignal() == unix.SIGTRAP:
			return nil
		case ws.Stopped():
			return fmt.Errorf("waiting for its execve: stopped by %v instead", ws.StopSignal())
		}
		return fmt.Errorf("waiting for its execve: it ended with status %#x", uint32(ws))
	}
}

func (c *command) detach() error {
	// ESRCH: killed while it was stopped, which is how an unresumed command ends.
	if err := unix.PtraceDetach(c.cmd.Process.Pid); err != nil && err != unix.ESRCH {
		return fmt.Errorf("resuming process %d: %w", c.cmd.Process.Pid, err)
	}
	return nil
}

func (c *command) pid() int { return c.cmd.Process.Pid }

func (c *command) resume() error {
	c.once.Do(func() {
		reply := make(chan error)
		c.resumeCh <- reply
		c.result = <-reply
		<-c.stopped
	})
	return c.result
}

func (c *command) signal(s os.Signal) error {
	err := c.cmd.Process.Signal(s)
	if s == os.Kill {
		// A killed tracee leaves its stop by itself; the thread that waits for Resume must end too.
		c.resume()
	}
	return err
}

func (c *command) wait() error {
	err := c.cmd.Wait()
	c.resume() // ended without Resume: by a signal, or by the context
	return err
}

// agentCommand is a program whose agent waits until it is resumed.
type agentCommand struct {
	cmd    *exec.Cmd
	conn   *agentconn.Conn
	exited chan struct{}
	result error
	once   sync.Once
	err    error
}

const (
	agentPatience = 5 * time.Second // how long a program may take to come to its agent
	agentPoll     = 2 * time.Millisecond
)

func startAgent(ctx context.Context, argv []string, o *StartOptions) (*agentCommand, error) {
	if path, err := exec.LookPath(argv[0]); err == nil && !programHasAgent(argv[0]) {
		return nil, fmt.Errorf("starting %s: %w", path, model.ErrNoAgent)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = o.Stdin, o.Stdout, o.Stderr, o.Dir
	cmd.Env = o.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, waiting(cmd.Env))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the command: %w", err)
	}
	c := &agentCommand{cmd: cmd, exited: make(chan struct{})}
	go func() {
		c.result = cmd.Wait()
		close(c.exited)
	}()
	if err := c.connect(); err != nil {
		cmd.Process.Kill()
		<-c.exited
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return c, nil
}

// waiting returns the variable by which an agent waits for its tracer, followed by its value in env, which the
// agent restores for the programs that it executes.
func waiting(env []string) string {
	const name = "WAYMARK_AGENT="
	for _, v := range slices.Backward(env) {
		if before, ok := strings.CutPrefix(v, name); ok {
			return name + "wait:" + before
		}
	}
	return name + "wait"
}

// connect waits for the program's agent.
func (c *agentCommand) connect() error {
	for begun := time.Now(); ; {
		var err error
		c.conn, err = agentconn.Dial(c.pid())
		switch {
		case err == nil && c.conn.Waits:
			return nil
		case err == nil:
			c.conn.Close()
			return errors.New("its agent does not wait")
		case !errors.Is(err, model.ErrNoAgent):
			return err
		case time.Since(begun) > agentPatience:
			return fmt.Errorf("%w within %v", model.ErrNoAgent, agentPatience)
		}
		select {
		case <-c.exited:
			return fmt.Errorf("%w: it has ended", model.ErrNoAgent)
		case <-time.After(agentPoll):
		}
	}
}

func (c *agentCommand) pid() int { return c.cmd.Process.Pid }

func (c *agentCommand) resume() error {
	c.once.Do(func() {
		c.err = c.conn.Do(&wire.Request{Do: wire.Resume})
		if errors.Is(c.err, wire.ErrEnded) {
			c.err = nil // it has ended, which Wait tells
		}
		c.conn.Close()
	})
	return c.err
}

func (c *agentCommand) wait() error {
	<-c.exited
	_ = c.resume()
	return c.result
}

func (c *agentCommand) signal(s os.Signal) error { return c.cmd.Process.Signal(s) }
