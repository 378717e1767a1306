package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long a message may take from its first byte to its last, either way.
const Patience = 5 * time.Second

// Conn is one end of a connection. One goroutine may send while another receives.
//
// It is a file, not a net.Conn: programs that import an agent do not link package net for it.
type Conn struct {
	f     *os.File
	raw   syscall.RawConn
	lines lines
	take  bool // descriptors that come are taken: by clients
	fds   []int
	end   time.Time // of every wait; zero for none
}

// Deadline sets the time at which every wait for the other end fails. It is to be called before the
// connection is used.
func (c *Conn) Deadline(end time.Time) { c.end = end }

// earlier returns the earlier of a time and the connection's deadline; a zero time is never.
func (c *Conn) earlier(t time.Time) time.Time {
	if t.IsZero() || !c.end.IsZero() && c.end.Before(t) {
		return c.end
	}
	return t
}

// newConn makes a connection of a socket, which it owns from then on.
func newConn(fd int, client bool) (*Conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil { // so that the runtime's poller takes it
		unix.Close(fd)
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "agent's socket")
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Conn{f: f, raw: raw, take: client}, nil
}

// Close closes the connection. Whoever waits in it returns with an error.
func (c *Conn) Close() error {
	for _, fd := range c.fds {
		unix.Close(fd)
	}
	c.fds = nil
	return c.f.Close()
}

// Peer is who is at the other end, by what the kernel noted when the connection was made.
type Peer struct{ PID, UID int }

func (c *Conn) peer() (p Peer, err error) {
	var cred *unix.Ucred
	control := c.raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(control, err); err != nil {
		return p, fmt.Errorf("asking who is at the other end: %w", err)
	}
	return Peer{int(cred.Pid), int(cred.Uid)}, nil
}

// send sends a message, with a descriptor unless that is negative.
func (c *Conn) send(message any, descriptor int) error {
	b, err := encode(message)
	if err != nil {
		return err
	}
	if err := c.f.SetWriteDeadline(c.earlier(time.Now().Add(Patience))); err != nil {
		return err
	}
	var rights []byte
	if descriptor >= 0 {
		rights = unix.UnixRights(descriptor)
	}
	for len(b) > 0 {
		var n int
		var sent error
		err := c.raw.Write(func(fd uintptr) bool {
			// Without a signal for this process when the other end is closed.
			n, sent = unix.SendmsgN(int(fd), b, rights, nil, unix.MSG_NOSIGNAL)
			return sent != unix.EAGAIN
		})
		switch {
		case err != nil:
			return err
		case sent == unix.EINTR:
			continue
		case sent != nil:
			return os.NewSyscallError("sendmsg", sent)
		}
		b, rights = b[n:], nil
	}
	return nil
}

// Left waits, and reports true as soon as the other end is closed. Messages that it sent before are
// left unread.
func (c *Conn) Left(wait time.Duration) bool {
	if err := c.f.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return true
	}
	err := c.raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		_, _ = unix.Poll(p, 0)
		return p[0].Revents != 0
	})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// receive returns the next message, which must be complete at a time; the zero time is for ever.
func (c *Conn) receive(until time.Time) ([]byte, error) {
	until, patient := c.earlier(until), false
	return c.lines.next(func(p []byte, begun bool) (int, error) {
		if begun && !patient {
			patient = true
			if end := time.Now().Add(Patience); until.IsZero() || end.Before(until) {
				until = end
			}
		}
		if err := c.f.SetReadDeadline(until); err != nil {
			return 0, err
		}
		return c.read(p)
	})
}

// maxRights is more than ever comes at once.
const maxRights = 4

func (c *Conn) read(p []byte) (int, error) {
	var control []byte
	if c.take {
		control = make([]byte, unix.CmsgSpace(4*maxRights))
	} // without room for them the kernel closes descriptors that come
	for {
		var n, length int
		var received error
		err := c.raw.Read(func(fd uintptr) bool {
			n, length, _, _, received = unix.Recvmsg(int(fd), p, control, unix.MSG_CMSG_CLOEXEC)
			return received != unix.EAGAIN
		})
		switch {
		case err != nil:
			return 0, err
		case received == unix.EINTR:
			continue
		case received != nil:
			return 0, os.NewSyscallError("recvmsg", received)
		}
		if length > 0 {
			c.keep(control[:length])
		}
		if n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
}

// keep takes descriptors that came, and closes what is too much.
func (c *Conn) keep(control []byte) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if len(c.fds) < maxRights {
				c.fds = append(c.fds, fd)
			} else {
				unix.Close(fd)
			}
		}
	}
}
