package agentconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// Session is a recording of one process that this process reads.
type Session struct {
	Source
	conn *Conn
	name string
	size int64 // of its rings, in bytes
}

// startSession asks the agent of a process to record.
func startSession(pid int, r *wire.Session) (*Session, error) {
	conn, err := Dial(pid)
	if err != nil {
		return nil, err
	}
	a, f, err := conn.AskFile(&wire.Request{Do: wire.Record, Session: r})
	if err != nil {
		conn.Close()
		return nil, Refusal(err)
	}
	defer f.Close()
	s := &Session{conn: conn}
	if a.Session == nil || rundir.CheckSession(a.Session.Name) != nil {
		conn.Close()
		return nil, fmt.Errorf("the agent of process %d does not say what it records", pid)
	}
	s.name, s.size = a.Session.Name, a.Session.Size
	if s.Reader, err = ring.Open(f); err != nil {
		conn.Close()
		return nil, fmt.Errorf("reading what process %d records: %w", pid, err)
	}
	s.PID = pid
	s.comm, _ = procfs.Comm(pid) // without it the process is a number
	return s, nil
}

// StartSessions starts one for each process that has any of the markers.
func StartSessions(pids []int, markers []*model.Marker, r wire.Session) (all []*Session, err error) {
	r.Patterns = declaredNames(markers)
	var none error
	for _, pid := range pids {
		s, err := startSession(pid, &r)
		var e *wire.Error
		if errors.As(err, &e) && e.Code == wire.NoPoint {
			none = err
			continue
		}
		if err != nil {
			CloseSessions(all)
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, none
	}
	return all, nil
}

// Halt ends the recording. What was recorded can still be read.
func (s *Session) Halt() error {
	err := s.conn.Do(&wire.Request{Do: wire.Stop, Name: s.name})
	if errors.Is(err, wire.ErrEnded) { // with its process
		return nil
	}
	return err
}

// close ends the connection, and with it the recording, and forgets what was not read.
func (s *Session) close() {
	s.conn.Close()
	_ = s.Reader.Close() // there is nothing to do about a mapping that stays
}

func CloseSessions(all []*Session) {
	for _, s := range all {
		s.close()
	}
}

// Kept yields the events that a recording has Kept.
type Kept struct{ *Events }

// NewKept returns the events of a ring file.
func NewKept(s *Source) *Kept {
	k := &Kept{&Events{
		sessions: []*Session{{Source: *s}}, closing: make(chan struct{}), halted: make(chan struct{}),
	}}
	close(k.halted)
	return k
}

func (k *Kept) Read(ctx context.Context, e *event.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.Events.Read(ctx, e)
}

func (*Kept) Stop() error { return nil }

func (*Kept) Order() source.Order { return source.ByTime }

func (k *Kept) Close() (err error) {
	k.once.Do(func() {
		close(k.closing)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.closed = true
		err = k.sessions[0].Reader.Close()
	})
	return err
}

// Snapshot reads what a recording has kept until now.
func (c *Conn) Snapshot(name string) (*Kept, error) {
	_, f, err := c.AskFile(&wire.Request{Do: wire.Ring, Name: name})
	if err != nil {
		return nil, Refusal(err)
	}
	defer f.Close()
	s, err := ReadRing(f)
	if err != nil {
		return nil, err
	}
	s.PID = c.PID
	if err := s.Keep(); err != nil {
		s.Close()
		return nil, err
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		s.Close()
		return nil, fmt.Errorf("reading the clock: %w", err)
	}
	s.last = time.Duration(now.Nano())
	return NewKept(s), nil
}

// ReadRing prepares to read a ring file.
func ReadRing(f *os.File) (*Source, error) {
	r, err := ring.Open(f)
	if err != nil {
		return nil, err
	}
	info := r.Info()
	comm := filepath.Base(info.Executable)
	return &Source{
		Reader: r, PID: info.PID, comm: comm[:min(len(comm), 15)],
	}, nil
}
