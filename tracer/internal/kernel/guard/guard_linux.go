package guard

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// Guard is a guard process of this one. Requests are for one goroutine at a time.
type Guard struct {
	cmd     *exec.Cmd
	conn    *net.UnixConn
	closing atomic.Bool
	ended   chan struct{}
	status  error // how it ended, once ended is closed
}

const (
	// startTime is a thousand times what starting takes. A guard that is not ready by then
	// hangs in somebody's init function.
	startTime = 10 * time.Second
	// maxStarts is how often a signal to the terminal's processes may hit the new process in
	// the moment before it has a session of its own.
	maxStarts = 3
)

// ErrNotServed means that the program has not called Serve. A second process of it would run the
// program again instead of being a guard.
var ErrNotServed = errors.New("the program has not called Serve")

// Start starts a guard. The error is the reason why there cannot be one: the program does not call
// Serve, /proc is not mounted, a sandbox refuses execve.
func Start() (*Guard, error) {
	if !served.Load() {
		return nil, fmt.Errorf("starting a guard: %w", ErrNotServed)
	}
	for n := 1; ; n++ {
		g, err := launch()
		if err != nil {
			return nil, fmt.Errorf("starting a guard: %w", err)
		}
		g.conn.SetReadDeadline(time.Now().Add(startTime))
		if _, _, err = receive(g.conn); err == nil {
			g.conn.SetReadDeadline(time.Time{})
			return g, nil
		}
		g.cmd.Process.Kill() // it has done nothing yet
		<-g.ended
		g.conn.Close()
		if n == maxStarts || !g.interrupted() {
			return nil, fmt.Errorf("starting a guard: %w (%w)", err, g.end())
		}
	}
}

func launch() (*Guard, error) {
	// Errors of execve come back from Start below, so a file that cannot be executed is one.
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	child := os.NewFile(uintptr(pair[1]), "guard")
	defer child.Close()
	ours, err := conn(pair[0])
	if err != nil {
		return nil, err
	}
	pid := strconv.Itoa(os.Getpid())
	// Standard input, output and error are /dev/null: a guard keeps no pipe of ours open.
	cmd := &exec.Cmd{
		Path:       "/proc/self/exe",
		Args:       []string{name(pid)},
		Env:        append(os.Environ(), variable+"="+pid),
		ExtraFiles: []*os.File{child},
		// In a session of its own no terminal and no process group reaches it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, AmbientCaps: capabilities(), Credential: effective()},
	}
	if err := startUnprivileged(cmd); err != nil {
		ours.Close()
		return nil, err
	}
	g := &Guard{cmd: cmd, conn: ours, ended: make(chan struct{})}
	go func() {
		g.status = cmd.Wait()
		close(g.ended)
	}()
	return g, nil
}

// startUnprivileged starts cmd so that its file gives it no privilege that this process does not have: its
// capabilities are not added, and it is not set-user-ID (Documentation/userspace-api/no_new_privs.rst). Serve refuses
// to be started in another way.
func startUnprivileged(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		// The flag is the thread's and cannot be taken back: the thread ends with this goroutine.
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err != nil {
			err = fmt.Errorf("giving up new privileges: %w", err)
		} else {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// effective is who a set-user-ID program runs as. Without new privileges execve makes that the user who started it.
func effective() *syscall.Credential {
	if os.Getuid() == os.Geteuid() && os.Getgid() == os.Getegid() {
		return nil
	}
	return &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid()), NoSetGroups: true}
}

// capabilities are those that execve would take away: all that another user than root has,
// save those of the file.
func capabilities() (all []uintptr) {
	have, err := procfs.Effective()
	if err != nil || os.Geteuid() == 0 {
		return nil
	}
	for c := range procfs.Capability(64) {
		if have.Has(c) {
			all = append(all, uintptr(c))
		}
	}
	return all
}

// Do has the guard handle a request. After an error there is no guard any more.
func (g *Guard) Do(request []byte, fds []int) (reply []byte, err error) {
	if err = send(g.conn, request, fds); err == nil {
		if reply, _, err = receive(g.conn); err == nil {
			return reply, nil
		}
	}
	g.conn.Close() // also the end of a guard that misunderstood
	<-g.ended
	return nil, fmt.Errorf("%w: %w", g.end(), err)
}

// Ended is closed when the process has ended.
func (g *Guard) Ended() <-chan struct{} { return g.ended }

// Err is nil while the guard runs and once Close has ended it. Otherwise somebody else
// ended it, and the kernel what it held.
func (g *Guard) Err() error {
	select {
	case <-g.ended:
		if !g.closing.Load() {
			return g.end()
		}
	default:
	}
	return nil
}

func (g *Guard) end() error {
	status := "without an error"
	if g.status != nil {
		status = g.status.Error()
	}
	return fmt.Errorf("guard process %d, which holds the probes, has ended: %s", g.cmd.Process.Pid, status)
}

// interrupted reports whether one of the signals that a guard ignores ended it.
func (g *Guard) interrupted() bool {
	var exit *exec.ExitError
	if !errors.As(g.status, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return false
	}
	switch ws.Signal() {
	case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT:
		return true
	}
	return false
}

// Close has the guard take everything back, and returns when it has and its process has
// ended. The error is that of taking back, or says that the guard had ended before.
func (g *Guard) Close() error {
	if err := g.Err(); err != nil {
		g.conn.Close()
		return err
	}
	g.closing.Store(true)
	_ = g.conn.CloseWrite()
	failed, _, err := receive(g.conn)
	<-g.ended
	g.conn.Close()
	switch {
	case err != nil:
		return g.end()
	case len(failed) > 0:
		return errors.New(string(failed))
	}
	return nil
}
