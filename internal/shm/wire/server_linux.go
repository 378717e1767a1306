package wire

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Listener is a socket at which an agent listens: one descriptor, and nothing that waits for it but
// the goroutine in Accept.
type Listener struct{ fd int }

// backlog is how many connections may wait to be accepted. Clients beyond it wait themselves.
const backlog = 16

// Listen makes a socket at a path that must not exist yet, for this user alone.
func Listen(path string) (*Listener, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// The socket's mode is what the descriptor has when it is bound, less the umask.
	if err := unix.Fchmod(fd, 0o600); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fchmod", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("listen", err)
	}
	return &Listener{fd}, nil
}

// Accept waits for the next connection whose other end is of this process's user, or root's; it
// closes others. It waits in the kernel and not in the runtime's poller, which would be two more
// descriptors in a program that has none.
func (l *Listener) Accept() (*Conn, error) {
	for {
		fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("accept", err)
		}
		c, err := newConn(fd, false)
		if err != nil {
			return nil, err
		}
		if p, err := c.peer(); err == nil && (p.UID == 0 || p.UID == os.Geteuid()) {
			return c, nil
		}
		c.Close()
	}
}

// Shut wakes Accept for good.
func (l *Listener) Shut() { _ = unix.Shutdown(l.fd, unix.SHUT_RDWR) }

// Close closes the socket, after Accept has returned.
func (l *Listener) Close() { _ = unix.Close(l.fd) }

// Request waits for the next request: as long as it takes with wait 0.
func (c *Conn) Request(wait time.Duration) (*Request, error) {
	var until time.Time
	if wait > 0 {
		until = time.Now().Add(wait)
	}
	line, err := c.receive(until)
	if err != nil {
		return nil, err
	}
	return ParseRequest(line)
}

// Answer sends an answer.
func (c *Conn) Answer(a *Answer) error { return c.send(a, -1) }

// AnswerFile sends an answer with a descriptor, which stays the caller's.
func (c *Conn) AnswerFile(a *Answer, f *os.File) error {
	a.File = true
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("passing %s: %w", f.Name(), err)
	}
	var sent error
	if err := raw.Control(func(fd uintptr) { sent = c.send(a, int(fd)) }); err != nil {
		return fmt.Errorf("passing %s: %w", f.Name(), err)
	}
	return sent
}
