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
}

// NewClient greets the agent at the other end.
func NewClient(c *Conn) (*Client, *Process, error) {
	client := &Client{conn: c}
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

// Each sends a request and calls fn for each of its answers, at most MaxPoints.
func (c *Client) Each(r *Request, fn func(*Answer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.send(r, -1); err != nil {
		return c.explain(r, err)
	}
	for n := 0; ; n++ {
		if n > MaxPoints {
			return fmt.Errorf("answers to %s: more than %d", r.Do, MaxPoints)
		}
		line, err := c.conn.receive(answerTime)
		if err != nil {
			return c.explain(r, err)
		}
		a, err := ParseAnswer(line)
		if err != nil {
			return c.explain(r, err)
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

// answerTime is how long an agent may take: to find points and prepare rings takes milliseconds, but
// the program may be busy, or stopped for a moment.
const answerTime = 10 * time.Second

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
func (c *Client) Ended() { _, _ = c.conn.receive(0) }
