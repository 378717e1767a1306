package guard

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Worker is what a guard does, and takes back.
type Worker interface {
	// Do handles one request. The descriptors that came with it are closed afterwards.
	Do(request []byte, fds []int) (reply []byte)
	// Close takes back what the end of the process does not. The links that the worker holds are left to that end,
	// which cannot be interrupted.
	Close() error
}

// variable marks a guard, together with the name that it runs under: neither an environment
// that somebody inherited nor an odd name makes one.
const variable = "WAYMARK_GUARD"

// name is how a guard shows itself in ps, and value what variable is: the parent's PID.
func name(value string) string { return "waymark: guard of " + value }

// comm is what tools show that do not look at arguments.
const comm = "waymark-guard"

// socket is the guard's end, the first descriptor that os/exec adds.
const socket = 3

// served is whether Serve was called: only then is a process that Start starts a guard.
var served atomic.Bool

// Serve makes this process a guard, if it was started to be one, and does not return then. The
// program calls it before it does anything else, because Start executes the program again.
func Serve(w Worker) {
	served.Store(true)
	value, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	os.Unsetenv(variable)
	if len(os.Args) == 1 && os.Args[0] == name(value) {
		if err := checkPrivilege(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: error: %v\n", name(value), err)
			unix.Exit(1)
		}
		// Not os.Exit: the race detector would sleep a second there, and coverage write files.
		unix.Exit(serve(w))
	}
}

// checkPrivilege makes sure that this process can do no more than who started it. A guard does what it is told over
// its socket, writing to the memory of processes among it; a file with capabilities (setcap), or one that is set-user-ID,
// would do that for everybody who may execute it. Who the other end is proves nothing: a program can make
// a pair of sockets, keep one end in a child, and execute the tracer. But nobody gets privileges by execve once
// no_new_privs is set, and after execve it is too late to set it.
func checkPrivilege() error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("asking for no_new_privs: %w", err)
	}
	if set != 1 {
		return errors.New("only a tracer starts a guard, with no_new_privs")
	}
	return nil
}

func serve(w Worker) (status int) {
	// Whoever wants the tracer to end sends these to the tracer, and some send them to
	// whatever has its name: it is the tracer's end that ends a guard.
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	_ = os.WriteFile("/proc/self/comm", []byte(comm), 0)
	_ = os.Chdir("/") // it keeps no file system busy
	closeInherited()
	c, err := conn(socket)
	if err != nil {
		return 1
	}
	if err := send(c, nil, nil); err != nil { // ready
		return 1
	}
	err = answer(c, w)
	failed := text(w.Close())
	divide()
	// If the parent is gone, it does not read this. Otherwise it waits for the end of this process.
	_ = send(c, failed, nil)
	runtime.KeepAlive(w) // a finalizer would close links
	if err != nil {
		return 1
	}
	return 0
}

// closeInherited closes what the tracer itself was given by a shell, say, and had no reason to
// close: descriptors without FD_CLOEXEC. Those of Go's runtime and packages have it.
func closeInherited() {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range fds {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= socket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// answer handles requests until the parent closes its end.
func answer(c *net.UnixConn, w Worker) error {
	for {
		request, fds, err := receive(c)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := w.Do(request, fds)
		closeAll(fds)
		if err := send(c, reply, nil); err != nil {
			return err
		}
	}
}

func text(err error) []byte {
	if err == nil {
		return nil
	}
	return []byte(err.Error())
}

// conn takes over a descriptor.
func conn(fd int) (*net.UnixConn, error) {
	unix.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), "guard")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, unix.ENOTSOCK
	}
	return u, nil
}
