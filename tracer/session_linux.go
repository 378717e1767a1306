package tracer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/sdt"
	"golang.org/x/sys/unix"
)

// kept are the events that a recording has kept.
type kept struct{ *agentEvents }

func newKept(s *ringSource) *Tracer {
	k := &kept{&agentEvents{
		sessions: []*agentSession{{ringSource: *s}}, closing: make(chan struct{}), halted: make(chan struct{}),
	}}
	close(k.halted)
	return &Tracer{engine: k}
}

func (k *kept) next(ctx context.Context, e *event.Event, text *[]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.agentEvents.next(ctx, e, text)
}

func (*kept) stop() error { return nil }

func (*kept) order() source.Order { return source.ByTime }

func (k *kept) Close() (err error) {
	k.once.Do(func() {
		close(k.closing)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.closed = true
		err = k.sessions[0].Reader.Close()
	})
	return err
}

func (c *agentConn) snapshot(name string) (*Tracer, error) {
	_, f, err := c.AskFile(&wire.Request{Do: wire.Ring, Name: name})
	if err != nil {
		return nil, agentError(err)
	}
	defer f.Close()
	s, err := readRing(f)
	if err != nil {
		return nil, err
	}
	s.pid = c.pid
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
	return newKept(s), nil
}

// readRing prepares to read a ring file.
func readRing(f *os.File) (*ringSource, error) {
	r, err := ring.Open(f)
	if err != nil {
		return nil, err
	}
	info := r.Info()
	comm := filepath.Base(info.Executable)
	return &ringSource{
		Reader: r, pid: info.PID, comm: comm[:min(len(comm), 15)], file: &File{Path: info.Executable, Go: info.Go, goid: -1},
	}, nil
}

func (c *agentConn) startSession(o *SessionOptions) (*Session, error) {
	if err := rundir.CheckSession(o.Name); err != nil {
		return nil, err
	}
	mode := wire.Discard
	if o.Flight {
		mode = wire.Overwrite
	}
	if o.Size == 0 {
		o.Size = 64 << 20
	}
	a, f, err := c.AskFile(&wire.Request{Do: wire.Record, Session: &wire.Session{
		Name: o.Name, Patterns: o.Patterns, Mode: mode, Size: o.Size, Where: o.Where, MaxString: cmp.Or(o.MaxString, defaultMaxString),
	}})
	if err != nil {
		return nil, agentError(err)
	}
	f.Close()
	if a.Session == nil {
		return nil, fmt.Errorf("the agent of process %d does not say what it records", c.pid)
	}
	s := c.sessionOf(a.Session)
	return &s, nil
}

// leftRing is where a dead program has left a ring: names are looked up anew, without following links, each time.
type leftRing struct {
	dir     string
	process rundir.Process
}

// allSessions asks every agent, and looks what others have left.
func allSessions() (all []Session, err error) {
	var errs []error
	for _, d := range rundir.All() {
		processes, err := d.Processes()
		errs = append(errs, err)
		for _, p := range processes {
			if some, err := sessionsOf(d, p); err == nil {
				all = append(all, some...)
			} else if !errors.Is(err, ErrNoAgent) && !errors.Is(err, ErrNoProcess) {
				errs = append(errs, err)
			}
		}
		d.Close()
	}
	slices.SortStableFunc(all, func(a, b Session) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), strings.Compare(a.Name, b.Name))
	})
	return all, errors.Join(errs...)
}

func sessionsOf(d *rundir.Dir, p rundir.Process) ([]Session, error) {
	rings, dead, err := d.Rings(p)
	if err != nil {
		return nil, nil // a socket alone: nothing is recorded
	}
	defer func() { rings.Close() }()
	for until := time.Now().Add(dyingTime); !dead; time.Sleep(dyingTime / 50) {
		all, asked := askSessions(p.PID)
		if !isEnd(asked) || time.Now().After(until) {
			return all, asked
		}
		// It is about to end: its sockets are closed, or reset, before the lock on its rings is free.
		again, free, err := d.Rings(p)
		if err != nil {
			return nil, err
		}
		rings.Close()
		rings, dead = again, free
	}
	list, err := rings.List()
	var all []Session
	for _, r := range list {
		s := Session{
			PID: p.PID, Name: r.Session, Named: !strings.HasPrefix(r.Session, "stream-"), Size: r.Size, Began: r.Modified,
			File: rings.Path() + "/" + r.Session + rundir.RingSuffix, left: &leftRing{d.Path(), p},
		}
		if f, err := rings.Open(r.Session+rundir.RingSuffix, unix.O_RDONLY); err == nil {
			if reader, err := ring.Open(f); err == nil {
				s.Executable, s.Flight = reader.Info().Executable, reader.Info().Mode == ring.Overwrite
				reader.Close()
			}
			f.Close()
		}
		all = append(all, s)
	}
	return all, err
}

// dyingTime is how long a process may take from closing its agent's socket to its end.
const dyingTime = time.Second

// isEnd reports whether an error can be that of asking a process that ends.
func isEnd(err error) bool {
	return errors.Is(err, wire.ErrEnded) || errors.Is(err, ErrNoAgent) || errors.Is(err, ErrNoProcess)
}

// askSessions asks the agent of a process.
func askSessions(pid int) ([]Session, error) {
	c, err := dialAgent(pid)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.sessions()
}

// open opens the directory that a ring was left in.
func (l *leftRing) open() (*rundir.Dir, error) {
	for _, d := range rundir.All() {
		if d.Path() == l.dir {
			rings, dead, err := d.Rings(l.process)
			d.Close()
			if err == nil && !dead {
				rings.Close()
				err = fmt.Errorf("process %d is alive", l.process.PID)
			}
			return rings, err
		}
		d.Close()
	}
	return nil, fmt.Errorf("directory %s: %w", l.dir, os.ErrNotExist)
}

var errAlive = errors.New("the program still records: take a snapshot")

func openRing(s *Session) (*Tracer, error) {
	if s.left == nil {
		return nil, errAlive
	}
	dir, err := s.left.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(s.Name+rundir.RingSuffix, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, err := readRing(f)
	if err != nil {
		return nil, err
	}
	return newKept(source), nil
}

func openRingFile(path string) (*Tracer, *Session, error) {
	f, _, err := openFile(path)
	if errors.Is(err, sdt.ErrNotELF) { // nor is a ring file
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	source, err := readRing(f)
	if err != nil {
		return nil, nil, err
	}
	info := source.Info()
	return newKept(source), &Session{
		PID: info.PID, Executable: info.Executable, Name: info.Session, Flight: info.Mode == ring.Overwrite, File: path,
	}, nil
}

func removeSession(s *Session) error {
	if s.left == nil {
		return errAlive
	}
	dir, err := s.left.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(s.Name + rundir.RingSuffix)
}
