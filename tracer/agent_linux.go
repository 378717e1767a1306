package tracer

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"golang.org/x/sys/unix"
)

// agentConn is a connection to an agent.
type agentConn struct {
	*wire.Client
	pid  int // as this process sees it
	exe  string
	goes string // the Go version
	// waits says that the program waits for this connection's Resume.
	waits bool
}

func dialAgent(pid int) (*agentConn, error) {
	op := fmt.Sprintf("connecting to the agent of process %d", pid)
	dir, owner, err := rundir.Of(pid)
	switch {
	case errors.Is(err, rundir.ErrNone):
		if uid := os.Geteuid(); uid != 0 && uid != owner.UID {
			return nil, notOurs(op, owner.UID)
		}
		return nil, fmt.Errorf("%s: %w", op, errors.Join(ErrNoAgent, notNone(err)))
	case err != nil:
		return nil, processError("connecting to the agent of", pid, procfs.SysPtrace, err)
	}
	defer dir.Close()
	conn, err := wire.Dial(dir.Inside(owner.Socket()), wire.Peer{PID: pid, UID: owner.UID})
	switch {
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("%s: %w", op, ErrNoAgent)
	case errors.Is(err, os.ErrPermission):
		return nil, notOurs(op, owner.UID)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	client, process, err := wire.NewClient(conn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, agentError(err))
	}
	return &agentConn{Client: client, pid: pid, exe: process.Executable, goes: process.Go, waits: process.Waits}, nil
}

// notNone returns what was wrong besides that there is none.
func notNone(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(joined.Unwrap()[1:]...)
	}
	return nil
}

func notOurs(op string, uid int) error {
	return &PermissionError{Op: op, Hint: fmt.Sprintf("an agent answers the user of its program, which is %d, and root", uid), Err: unix.EACCES}
}

// agentError turns a refusal into the error that it is of other engines.
func agentError(err error) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case wire.BadWhere:
		return &WhereError{Column: e.Column, Hint: e.Hint, err: e}
	case wire.NoField:
		return &WhereError{Hint: e.Hint, err: e}
	case wire.Unsupported:
		return fmt.Errorf("%w: %w", ErrNotSupported, e)
	}
	return &AgentError{Hint: e.Hint, Err: e}
}

// each asks for a list.
func (c *agentConn) each(do string, fn func(*wire.Answer)) error {
	err := c.Each(&wire.Request{Do: do}, func(a *wire.Answer) error {
		fn(a)
		return nil
	})
	return agentError(err)
}

// ask asks for something that is done or refused.
func (c *agentConn) ask(r *wire.Request) error {
	_, err := c.Ask(r)
	return agentError(err)
}

func (c *agentConn) points() (all []Point, err error) {
	err = c.each(wire.List, func(a *wire.Answer) {
		if a.Point != nil {
			all = append(all, pointOf(a.Point))
		}
	})
	return all, err
}

func pointOf(p *wire.Point) Point {
	out := Point{
		Kind: p.Kind, Name: p.Name, Format: p.Format, Armed: p.Armed, Kernel: p.Kernel,
		Probes: p.Probes, Hits: p.Hits, Problem: p.Problem,
	}
	for _, f := range p.Fields {
		out.Fields = append(out.Fields, event.Field{Name: f.Name, Type: f.Type, Kind: f.Kind, Verb: f.Verb, Unavailable: f.Unavailable})
	}
	return out
}

func (c *agentConn) arm(names []string) error {
	return c.ask(&wire.Request{Do: wire.Arm, Names: names})
}

func (c *agentConn) toggle(names []string, on bool) error {
	do := wire.Disable
	if on {
		do = wire.Enable
	}
	return c.ask(&wire.Request{Do: do, Names: names})
}

func (c *agentConn) sessions() (all []Session, err error) {
	err = c.each(wire.Sessions, func(a *wire.Answer) {
		if a.Session != nil {
			all = append(all, c.sessionOf(a.Session))
		}
	})
	return all, err
}

func (c *agentConn) sessionOf(s *wire.Session) Session {
	return Session{
		PID: c.pid, Executable: c.exe, Name: s.Name, Named: s.Named, Flight: s.Mode == wire.Overwrite, Alive: true,
		Size: s.Size, File: s.File, Began: time.Unix(0, s.Began), Markers: s.Markers,
		Recorded: s.Recorded, Lost: s.Lost, Filtered: s.Filtered,
	}
}

func (c *agentConn) stopSession(name string) error {
	return c.ask(&wire.Request{Do: wire.Stop, Name: name})
}

func (c *agentConn) wait() { c.Ended() }

func (c *agentConn) close() error { return c.Close() }
