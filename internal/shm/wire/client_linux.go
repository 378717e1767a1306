package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrImpostor says that whoever answers at a socket is not the process that it is named after.
var ErrImpostor = errors.New("somebody else answers at its socket")

// Dial connects to an agent. want is who must be at the other end.
func Dial(path string, want Peer) (*Conn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// An agent that accepts nothing leaves its clients waiting.
	limit := unix.NsecToTimeval(int64(Patience))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("setsockopt", err)
	}
	for {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		unix.Close(fd)
		if err == unix.EAGAIN {
			err = unix.ETIMEDOUT
		}
		return nil, os.NewSyscallError("connect", err)
	}
	c, err := newConn(fd, true)
	if err != nil {
		return nil, err
	}
	p, err := c.peer()
	if err == nil && p != want {
		err = fmt.Errorf("%w: process %d of user %d", ErrImpostor, p.PID, p.UID)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Client asks an agent. Its methods may be called from several goroutines: requests wait for each other.
type Client struct {
	mu   sync.Mutex
	conn *Conn
	time time.Duration // for all answers to a request
}

// Limits of the answers to one request. To find points and prepare rings takes milliseconds, but the program
// may be busy, or stopped for a moment.
const (
	answerTime  = 10 * time.Second
	answerBytes = 64 << 20
)

// LimitError reports that an agent exceeds a limit of the answers to one request: their number, their
// bytes in memory, or their time.
type LimitError struct {
	Do    string // of the request
	Limit string
	err   error
}

func (e *LimitError) Error() string { return fmt.Sprintf("answers to %s: more than %s", e.Do, e.Limit) }

func (e *LimitError) Unwrap() error { return e.err }

// NewClient greets the agent at the other end.
func NewClient(c *Conn) (*Client, *Process, error) {
	client := &Client{conn: c, time: answerTime}
	a, err := client.Ask(&Request{Do: Hello, Version: Version})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == BadVersion {
		refused.Hint = Rebuild // an agent of the first version gives no hint
	}
	if err == nil && a.Process == nil {
		err = errors.New("the answer to hello says nothing")
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return client, a.Process, nil
}

// Close ends the connection, and with it all that was armed or started through it and has no name.
func (c *Client) Close() error { return c.conn.Close() }

// Ask sends a request and returns its only answer. A refusal is an *Error.
func (c *Client) Ask(r *Request) (*Answer, error) {
	var one *Answer
	err := c.Each(r, func(a *Answer) error {
		one = a
		return nil
	})
	return one, err
}

// AskFile does so for an answer with a descriptor, which is the caller's.
func (c *Client) AskFile(r *Request) (*Answer, *os.File, error) {
	a, err := c.Ask(r)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !a.File || len(c.conn.fds) != 1 {
		return nil, nil, fmt.Errorf("answer to %s came with %d descriptors, not one", r.Do, len(c.conn.fds))
	}
	f := os.NewFile(uintptr(c.conn.fds[0]), "ring of the agent")
	c.conn.fds = nil
	return a, f, nil
}

// Each sends a request and calls fn for each of its answers. The error is a *LimitError if there are more
// than MaxPoints, or they take too many bytes or too long.
func (c *Client) Each(r *Request, fn func(*Answer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.send(r, -1); err != nil {
		return c.explain(r, err)
	}
	until, bytes := time.Now().Add(c.time), 0
	for n := 0; ; n++ {
		if n > MaxPoints {
			return &LimitError{Do: r.Do, Limit: fmt.Sprint(MaxPoints)}
		}
		line, err := c.conn.receive(until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = &LimitError{r.Do, c.time.String(), err}
		}
		if err != nil {
			return c.explain(r, err)
		}
		a, err := ParseAnswer(line)
		if err != nil {
			return c.explain(r, err)
		}
		if bytes += a.cost(len(line)); bytes > answerBytes {
			return &LimitError{Do: r.Do, Limit: fmt.Sprintf("%d MiB in memory", answerBytes>>20)}
		}
		if a.Error != nil {
			return a.Error
		}
		if err := fn(a); err != nil {
			return err
		}
		if !a.More {
			return nil
		}
	}
}

// cost returns about how many bytes of memory an answer takes that came in so many.
func (a *Answer) cost(line int) int {
	if p := a.Point; p != nil {
		const field, probe = 256, 32 // two bytes of JSON make one
		return line + field*len(p.Fields) + probe*len(p.Probes)
	}
	return line
}

// ErrEnded says that the agent's end of the connection is closed: its process ended, or it was stopped.
var ErrEnded = errors.New("the agent has closed the connection")

func (c *Client) explain(r *Request, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) {
		err = ErrEnded
	}
	return fmt.Errorf("asking the agent for %s: %w", r.Do, err)
}

// Ended waits until the agent closes its end. It must be the last that is called but Close: an agent
// never speaks first.
func (c *Client) Ended() { _, _ = c.conn.receive(time.Time{}) }
