package agentconn

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// Conn is a connection to an agent.
type Conn struct {
	*wire.Client
	PID        int // as this process sees it
	Executable string
	Go         string // the version
	// Waits says that the program waits for this connection's Resume.
	Waits bool
}

// Dial connects to the agent of a process.
func Dial(pid int) (*Conn, error) { return DialUntil(pid, time.Time{}) }

// DialUntil is Dial for a connection that fails when it has to wait at a time; zero is never.
func DialUntil(pid int, end time.Time) (*Conn, error) {
	op := fmt.Sprintf("connecting to the agent of process %d", pid)
	dir, owner, err := rundir.Of(pid)
	switch {
	case errors.Is(err, rundir.ErrNone):
		if uid := os.Geteuid(); uid != 0 && uid != owner.UID {
			return nil, notOurs(op, owner.UID)
		}
		return nil, fmt.Errorf("%s: %w", op, errors.Join(model.ErrNoAgent, notNone(err)))
	case err != nil:
		return nil, model.ProcessError("connecting to the agent of", pid, procfs.SysPtrace, err)
	}
	defer dir.Close()
	conn, err := wire.Dial(dir.Inside(owner.Socket()), wire.Peer{PID: pid, UID: owner.UID})
	switch {
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ENOENT):
		return nil, fmt.Errorf("%s: %w", op, model.ErrNoAgent)
	case errors.Is(err, os.ErrPermission):
		return nil, notOurs(op, owner.UID)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	conn.Deadline(end)
	client, process, err := wire.NewClient(conn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, Refusal(err))
	}
	return &Conn{Client: client, PID: pid, Executable: process.Executable, Go: process.Go, Waits: process.Waits}, nil
}

// notNone returns what was wrong besides that there is none.
func notNone(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(joined.Unwrap()[1:]...)
	}
	return nil
}

func notOurs(op string, uid int) error {
	return &model.PermissionError{Op: op, Hint: fmt.Sprintf("an agent answers the user of its program, which is %d, and root", uid), Err: unix.EACCES}
}

// Refusal turns a refusal into the error that it is of other engines.
func Refusal(err error) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case wire.BadWhere:
		return &model.WhereError{Column: e.Column, Hint: e.Hint, Err: e}
	case wire.NoField:
		return &model.WhereError{Hint: e.Hint, Err: e}
	case wire.Unsupported:
		return fmt.Errorf("%w: %w", model.ErrNotSupported, e)
	}
	return &model.AgentError{Hint: e.Hint, Err: e}
}

// List asks for a list.
func (c *Conn) List(do string, fn func(*wire.Answer)) error {
	err := c.Each(&wire.Request{Do: do}, func(a *wire.Answer) error {
		fn(a)
		return nil
	})
	return Refusal(err)
}

// Do asks for something that is done or refused.
func (c *Conn) Do(r *wire.Request) error {
	_, err := c.Client.Ask(r)
	return Refusal(err)
}

// Points returns every marker, tracepoint and key of the program.
func (c *Conn) Points() (all []*wire.Point, err error) {
	err = c.List(wire.List, func(a *wire.Answer) {
		if a.Point != nil {
			all = append(all, a.Point)
		}
	})
	return all, err
}

// Fields returns the fields of a point.
func Fields(p *wire.Point) (all []event.Field) {
	for _, f := range p.Fields {
		all = append(all, event.Field{Name: f.Name, Type: f.Type, Kind: f.Kind, Verb: f.Verb, Unavailable: f.Unavailable})
	}
	return all
}

// Conns are connections to the agents of several processes.
type Conns []*Conn

// DialAll connects to the agents of all processes. The error is that of the first one without.
func DialAll(ctx context.Context, pids []int) (all Conns, err error) {
	for _, pid := range pids {
		c, err := Dial(pid)
		if err == nil {
			all = append(all, c)
			err = ctx.Err()
		}
		if err != nil {
			all.Close()
			return nil, err
		}
	}
	return all, nil
}

// Close ends the connections.
func (all Conns) Close() {
	for _, c := range all {
		c.Close()
	}
}

// Find returns the markers and tracepoints of the processes.
func (conns Conns) Find(ctx context.Context) (all []*model.Marker, err error) {
	known := map[string]*model.Marker{}
	for _, c := range conns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		points, err := c.Points()
		if err != nil {
			return nil, err
		}
		file := model.NewFile(&model.File{Path: c.Executable, Go: c.Go}, elf.EM_NONE, -1)
		for _, p := range points {
			if p.Kind == wire.Marker || p.Kind == wire.Tracepoint {
				m := agentMarker(p, file)
				key := file.Path + "\x00" + model.Declared(m) + "\x00" + m.Format
				if known[key] == nil { // twins are two sites of one
					known[key] = m
					all = append(all, m)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *model.Marker) int { return cmp.Compare(model.Declared(a), model.Declared(b)) })
	return all, nil
}

func agentMarker(p *wire.Point, file *model.File) *model.Marker {
	m := model.NewDeclared(event.Declared(p.Name, p.Format), file, p.Kind == wire.Tracepoint)
	m.Fields = Fields(p)
	return m
}

// declaredNames returns the names of markers as patterns, each once.
func declaredNames(markers []*model.Marker) []string {
	var names []string
	for _, m := range markers {
		if !slices.Contains(names, model.Declared(m)) {
			names = append(names, model.Declared(m))
		}
	}
	return names
}
